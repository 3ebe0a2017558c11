/** Rewrites numeric dates of other programs, such as `15/03/2026 3:45 PM`, as `2026-03-15 15:45`. No database. */

const numericDate = /^(?<one>\d{1,2})(?<mark>[/.-])(?<two>\d{1,2})\k<mark>(?<year>\d{4})(?<time>[ T,].*)?$/
const clock = /^(?<hour>\d{1,2}):(?<minute>\d\d)(?::(?<second>\d\d))?\s?(?<half>[AP]M)?$/i

/**
 * Rewrites the dates in these columns. A column tells by itself whether the day or the month comes first, if one of its
 * dates has a number above 12; points mean the day. Leaves dates that remain ambiguous as they are: their rows are
 * refused.
 */
export function rewriteNumericDates(rows: readonly { cells: string[] }[], columns: readonly number[]): void {
  for (const at of columns) {
    const found = rows.map(({ cells }) => numericDate.exec(cells[at] ?? '')?.groups)
    const isDayFirst = found.some((date) => Number(date?.one) > 12 || date?.mark === '.')
    const isMonthFirst = found.some((date) => Number(date?.two) > 12)
    if (isDayFirst === isMonthFirst) continue
    for (const { cells } of rows) cells[at] = rewrite(cells[at] ?? '', isDayFirst)
  }
}

function rewrite(text: string, isDayFirst: boolean): string {
  const groups = numericDate.exec(text)?.groups
  if (!groups) return text
  const { one, two, year, time = '' } = groups as Record<'one' | 'two' | 'year', string> & { time?: string }
  const [day, month] = isDayFirst ? [one, two] : [two, one]
  const written = time.replace(/^[ T,]+/, '')
  return `${year}-${pad(month)}-${pad(day)}${written === '' ? '' : ` ${rewriteTime(written)}`}`
}

function rewriteTime(text: string): string {
  const groups = clock.exec(text)?.groups
  if (!groups) return text
  const { hour = '', minute = '', second = '00', half } = groups
  const hours = half ? (Number(hour) % 12) + (half.toUpperCase() === 'PM' ? 12 : 0) : Number(hour)
  return `${pad(String(hours))}:${minute}:${second}`
}

const pad = (number: string): string => number.padStart(2, '0')
