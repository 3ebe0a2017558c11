/** An independent reader of CSV, which ends rows and cells as spreadsheets do: at any line end outside quotes. */
export function readRows(text: string, delimiter = ','): string[][] {
  const rows: string[][] = []
  let [row, cell, quoted, wasQuoted] = [[] as string[], '', false, false]
  const endCell = (): void => {
    row.push(cell)
    ;[cell, wasQuoted] = ['', false]
  }
  const endRow = (): void => {
    endCell()
    rows.push(row)
    row = []
  }
  const characters = text.replace(/^\ufeff/, '')
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at]!
    if (quoted) {
      if (character !== '"') cell += character
      else if (characters[at + 1] === '"') {
        cell += '"'
        at += 1
      } else quoted = false
    } else if (character === '"' && cell === '' && !wasQuoted) [quoted, wasQuoted] = [true, true]
    else if (
      character === '"' ||
      (wasQuoted && character !== delimiter && character !== '\r' && character !== '\n')
    )
      throw new Error(`a quote in the middle of a cell: ${characters.slice(Math.max(0, at - 20), at + 20)}`)
    else if (character === delimiter) endCell()
    else if (character === '\r' && characters[at + 1] === '\n') continue
    else if (character === '\r' || character === '\n') endRow()
    else cell += character
  }
  if (quoted) throw new Error('a quote is open')
  if (cell !== '' || row.length > 0) endRow()
  return rows
}
