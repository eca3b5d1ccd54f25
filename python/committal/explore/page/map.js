// Changes of a map; each says whether it changed anything, and never leaves a map that cannot be.

export const LETTERS = ["A", "B", "C", "D"];

function rowsOf(problem) {
  return problem.text.split("\n").map((row) => [...row]);
}

function startOf(problem) {
  return problem.start ?? "S";
}

function write(problem, rows) {
  problem.text = rows.map((row) => row.join("")).join("\n");
}

function count(rows, letter) {
  return rows.flat().filter((cell) => cell === letter).length;
}

// `tool`: "#", ".", "start" or the letter of a goal.
export function changed(problem, r, c, tool) {
  const rows = rowsOf(problem), start = startOf(problem);
  const letter = tool === "start" ? start : tool;
  const before = rows[r]?.[c]; // the other panel's map may be smaller
  if (before === undefined || before === letter) return false;
  if (before === start && count(rows, start) === 1 && letter !== start) return false;
  const goals = { ...problem.goals };
  if (before in goals && count(rows, before) === 1) {
    if (Object.keys(goals).length === 1 && !(letter in goals)) return false;
    delete goals[before];
  }
  if (letter === start || LETTERS.includes(letter)) {
    // There is one of each: it moves.
    rows.forEach((row) => row.forEach((cell, k) => { if (cell === letter) row[k] = "."; }));
  }
  rows[r][c] = letter;
  if (LETTERS.includes(letter)) goals[letter] = problem.goals[letter] ?? 0.5;
  problem.goals = goals;
  write(problem, rows);
  return true;
}

// One row or column more or less, inside of the last one, which may be a wall around.
export function resized(problem, down, right) {
  const rows = rowsOf(problem), [high, wide] = [rows.length, rows[0].length];
  if (high + down < 3 || high + down > 18 || wide + right < 3 || wide + right > 20) return false;
  if (down > 0) rows.splice(high - 1, 0, rows[high - 2].map((cell) => (cell === "#" ? "#" : ".")));
  if (right > 0) rows.forEach((row) => row.splice(wide - 1, 0, row[wide - 2] === "#" ? "#" : "."));
  if (down < 0) rows.splice(high - 2, 1);
  if (right < 0) rows.forEach((row) => row.splice(wide - 2, 1));
  const start = startOf(problem), goals = {};
  if (!count(rows, start)) return false;
  for (const [letter, reward] of Object.entries(problem.goals)) {
    if (count(rows, letter)) goals[letter] = reward;
  }
  if (!Object.keys(goals).length) return false;
  problem.goals = goals;
  write(problem, rows);
  return true;
}

export function cleared(problem) {
  const rows = rowsOf(problem), [high, wide] = [rows.length, rows[0].length];
  rows.forEach((row, r) => row.forEach((cell, c) => {
    const edge = r === 0 || c === 0 || r === high - 1 || c === wide - 1;
    if (cell === "#" && !edge) row[c] = ".";
  }));
  write(problem, rows);
  return true;
}
