/**
 * Our own guides as HTML. Takes of Markdown what they are written in: headings, paragraphs, lists, tables, fenced
 * code; within a line code, bold and links. All text is escaped; whatever else there is stays as it was typed.
 */

export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]!)

/** As links within a page name it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replace(/\s+/g, '-')

const inline = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(((?:https:\/\/|\/|#|\.)[^)\s]*)\)/g

function lineOf(text: string): string {
  let html = ''
  let end = 0
  for (const found of text.matchAll(inline)) {
    const [whole, code, bold, words, address] = found
    html += escaped(text.slice(end, found.index))
    if (code !== undefined) html += `<code>${escaped(code)}</code>`
    else if (bold !== undefined) html += `<strong>${lineOf(bold)}</strong>`
    else html += `<a href="${escaped(address!)}">${lineOf(words!)}</a>`
    end = found.index + whole.length
  }
  return html + escaped(text.slice(end))
}

/** Of a table's row; `\|` is no border, and neither is one within code. */
const cellsOf = (row: string): string[] =>
  [...row.replace(/^\||\|\s*$/g, '').matchAll(/(?:`[^`]*`|\\\||[^|`])+/g)].map(([cell]) =>
    cell.trim().replaceAll('\\|', '|'),
  )

function tableOf([head, _rule, ...rows]: readonly string[]): string {
  const row = (line: string, tag: 'td' | 'th'): string =>
    `<tr>${cellsOf(line)
      .map((cell) => `<${tag}>${lineOf(cell)}</${tag}>`)
      .join('')}</tr>`
  const body = rows.map((line) => row(line, 'td')).join('\n')
  // Wide ones scroll by themselves, with keys too.
  return `<div class="wide" tabindex="0"><table><thead>${row(head!, 'th')}</thead><tbody>${body}</tbody></table></div>`
}

const listOf = (lines: readonly string[], tag: 'ol' | 'ul'): string => {
  const items = lines.join('\n').split(/\n?^(?:-|\d+\.) /m)
  return `<${tag}>${items
    .slice(1)
    .map((item) => `<li>${lineOf(item.replace(/\s*\n\s*/g, ' '))}</li>`)
    .join('\n')}</${tag}>`
}

function blockOf(lines: readonly string[]): string {
  const [first] = lines as [string]
  const heading = /^(#{1,4}) (.+)$/.exec(first)
  if (heading) {
    const [, { length: level }, words] = heading as unknown as [string, string, string]
    const rest = lines.length > 1 ? `\n${blockOf(lines.slice(1))}` : ''
    return `<h${level} id="${anchorOf(words)}">${lineOf(words)}</h${level}>${rest}`
  }
  if (first.startsWith('|') && /^\|[\s|:-]+\|\s*$/.test(lines[1] ?? '')) return tableOf(lines)
  if (first.startsWith('- ')) return listOf(lines, 'ul')
  if (/^\d+\. /.test(first)) return listOf(lines, 'ol')
  return `<p>${lineOf(lines.join(' '))}</p>`
}

export function htmlOf(markdown: string): string {
  const blocks: string[] = []
  let open: string[] = []
  const close = (): void => {
    if (open.length > 0) blocks.push(blockOf(open))
    open = []
  }
  const lines = markdown.split('\n')
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!
    if (line.startsWith('```')) {
      close()
      const end = lines.indexOf('```', at + 1)
      const code = lines.slice(at + 1, end < 0 ? undefined : end).join('\n')
      blocks.push(`<pre tabindex="0"><code>${escaped(code)}</code></pre>`)
      at = end < 0 ? lines.length : end
    } else if (line.trim() === '') close()
    else open.push(line)
  }
  close()
  return blocks.join('\n')
}
