/**
 * Renders our own guides as HTML. Supports the Markdown that they use: headings, paragraphs, lists, tables, fenced
 * code; within a line code, bold and links. All text is escaped; anything else stays as it was written.
 */

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]!)

/** The anchor of a heading, as links to it write it. */
const toAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replace(/\s+/g, '-')

const inline = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(((?:https:\/\/|\/|#|\.)[^)\s]*)\)/g

function renderInline(text: string): string {
  let html = ''
  let end = 0
  for (const found of text.matchAll(inline)) {
    const [whole, code, bold, words, address] = found
    html += escapeHtml(text.slice(end, found.index))
    if (code !== undefined) html += `<code>${escapeHtml(code)}</code>`
    else if (bold !== undefined) html += `<strong>${renderInline(bold)}</strong>`
    else html += `<a href="${escapeHtml(address!)}">${renderInline(words!)}</a>`
    end = found.index + whole.length
  }
  return html + escapeHtml(text.slice(end))
}

/** Splits a table's row into cells. `\|` and a bar within code are part of a cell. */
const splitCells = (row: string): string[] =>
  [...row.replace(/^\||\|\s*$/g, '').matchAll(/(?:`[^`]*`|\\\||[^|`])+/g)].map(([cell]) =>
    cell.trim().replaceAll('\\|', '|'),
  )

function renderTable([head, _rule, ...rows]: readonly string[]): string {
  const row = (line: string, tag: 'td' | 'th'): string =>
    `<tr>${splitCells(line)
      .map((cell) => `<${tag}>${renderInline(cell)}</${tag}>`)
      .join('')}</tr>`
  const body = rows.map((line) => row(line, 'td')).join('\n')
  // A wide table scrolls inside its own element; `tabindex` allows that by keyboard too.
  return `<div class="wide" tabindex="0"><table><thead>${row(head!, 'th')}</thead><tbody>${body}</tbody></table></div>`
}

const renderList = (lines: readonly string[], tag: 'ol' | 'ul'): string => {
  const items = lines.join('\n').split(/\n?^(?:-|\d+\.) /m)
  return `<${tag}>${items
    .slice(1)
    .map((item) => `<li>${renderInline(item.replace(/\s*\n\s*/g, ' '))}</li>`)
    .join('\n')}</${tag}>`
}

function renderBlock(lines: readonly string[]): string {
  const [first] = lines as [string]
  const heading = /^(#{1,4}) (.+)$/.exec(first)
  if (heading) {
    const [, { length: level }, words] = heading as unknown as [string, string, string]
    const rest = lines.length > 1 ? `\n${renderBlock(lines.slice(1))}` : ''
    return `<h${level} id="${toAnchor(words)}">${renderInline(words)}</h${level}>${rest}`
  }
  if (first.startsWith('|') && /^\|[\s|:-]+\|\s*$/.test(lines[1] ?? '')) return renderTable(lines)
  if (first.startsWith('- ')) return renderList(lines, 'ul')
  if (/^\d+\. /.test(first)) return renderList(lines, 'ol')
  return `<p>${renderInline(lines.join(' '))}</p>`
}

export function renderMarkdown(markdown: string): string {
  const blocks: string[] = []
  let open: string[] = []
  const close = (): void => {
    if (open.length > 0) blocks.push(renderBlock(open))
    open = []
  }
  const lines = markdown.split('\n')
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!
    if (line.startsWith('```')) {
      close()
      const end = lines.indexOf('```', at + 1)
      const code = lines.slice(at + 1, end < 0 ? undefined : end).join('\n')
      blocks.push(`<pre tabindex="0"><code>${escapeHtml(code)}</code></pre>`)
      at = end < 0 ? lines.length : end
    } else if (line.trim() === '') close()
    else open.push(line)
  }
  close()
  return blocks.join('\n')
}
