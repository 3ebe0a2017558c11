/** Bar charts of the store's statistics by day, each with a table. */
import { call, readError } from './calls.js'
import { byId, element } from './dom.js'

const svgNamespace = 'http://www.w3.org/2000/svg'
const [width, height, foot] = [340, 150, 20]

const charts = [
  {
    title: 'Conversions',
    unit: ({ currency }) => `Revenue by day, in ${currency}`,
    path: '/v1/conversions/summary?groupBy=day',
    toDays: ({ data }) => data.map(({ startDate, revenue, orders }) => [startDate, revenue, orders]),
    columns: ['Day', 'Revenue', 'Orders'],
  },
  {
    title: 'Sends',
    unit: () => 'Messages by day of this cycle',
    path: '/v1/subscription/usage',
    toDays: ({ daily }) => daily.map(({ date, used }) => [date, used]),
    columns: ['Day', 'Messages'],
  },
]

/** Draws all charts, or a hint without a key. */
export async function showCharts(key) {
  if (!key) {
    byId('charts').replaceChildren(element('p', {}, 'Enter the store’s key above to see its charts.'))
    return
  }
  const drawn = await Promise.all(charts.map((chart) => renderChart(chart, key)))
  byId('charts').replaceChildren(...drawn)
}

async function renderChart({ title, unit, path, toDays, columns }, key) {
  const { status, answer } = await call({ method: 'GET', path }, { key, quiet: true })
  if (status !== 200) return element('p', {}, `${title}: ${readError(status, answer)}`)
  const days = toDays(answer)
  const sum = Math.round(days.reduce((total, [, value]) => total + value, 0) * 100) / 100
  return element(
    'figure',
    {},
    element(
      'figcaption',
      {},
      element('strong', {}, title),
      ` ${unit(answer)}: ${sum.toLocaleString()} in all`,
    ),
    renderBars(
      days,
      `${title}, ${sum.toLocaleString()} from ${days[0]?.[0]} to ${days.at(-1)?.[0]}; the table has each day`,
    ),
    element('details', {}, element('summary', {}, `${title} as a table`), renderTable(title, columns, days)),
    element('p', { class: 'quiet' }, `GET ${path}`),
  )
}

function svgElement(name, attributes, text) {
  const made = document.createElementNS(svgNamespace, name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  if (text !== undefined) made.textContent = text
  return made
}

function renderBars(days, label) {
  const svg = svgElement('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label })
  const most = Math.max(1, ...days.map(([, value]) => value))
  const each = width / Math.max(1, days.length)
  const tall = height - 2 * foot
  days.forEach(([day, value], at) => {
    const high = (value / most) * tall
    const bar = svgElement('rect', {
      x: at * each + each * 0.1,
      y: foot + tall - high,
      width: each * 0.8,
      height: high,
      class: 'bar',
    })
    bar.append(svgElement('title', {}, `${day}: ${value.toLocaleString()}`))
    svg.append(bar)
  })
  svg.append(
    svgElement('line', { x1: 0, x2: width, y1: foot + tall, y2: foot + tall, class: 'axis' }),
    svgElement('text', { x: 0, y: 14 }, `${most.toLocaleString()} at most`),
    svgElement('text', { x: 0, y: height - 4 }, days[0]?.[0] ?? ''),
    svgElement('text', { x: width, y: height - 4, 'text-anchor': 'end' }, days.at(-1)?.[0] ?? ''),
  )
  return svg
}

function renderTable(title, columns, rows) {
  const cells = (name, values) => values.map((value) => element(name, {}, value.toLocaleString()))
  return element(
    'div',
    { class: 'scrolled', tabindex: '0', role: 'region', 'aria-label': `Table: ${title}` },
    element(
      'table',
      {},
      element(
        'thead',
        {},
        element('tr', {}, ...columns.map((column) => element('th', { scope: 'col' }, column))),
      ),
      element('tbody', {}, ...rows.map((row) => element('tr', {}, ...cells('td', row)))),
    ),
  )
}
