"""How scripts that test a copy of the package make sure that the copy is what is imported.

An editable installation is found before PYTHONPATH: the copy would not be looked at. The text is
that of a file ``sitecustomize.py`` in a directory on the path, which every interpreter reads first.
"""

SITECUSTOMIZE = """\
import sys
editable = ("Editable", "editable", "Redirecting")
sys.meta_path[:] = [f for f in sys.meta_path if not any(word in repr(f) for word in editable)]
"""
