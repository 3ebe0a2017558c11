/** Shows a timeline of this page's requests and the server's events. */
import { requests } from './calls.js'
import { byId, element, fill, time } from './dom.js'

const shownAtMost = 100
const kinds = { request: 'Requests', job: 'Jobs', message: 'Messages', hook: 'Hooks', mail: 'Mail' }
let events = []
let shown = ''

/** Draws the filters once; changing one redraws the timeline. */
export function beginTimeline() {
  byId('timeline-kinds').append(
    ...Object.entries(kinds).map(([kind, name]) =>
      element(
        'label',
        { class: 'check' },
        element('input', { type: 'checkbox', value: kind, checked: true, onchange: drawTimeline }),
        name,
      ),
    ),
  )
}

/** Shows the timeline. The page's requests are shifted by the server's clock offset, to appear next to their effects. */
export function showTimeline(data, offsetSeconds) {
  const own = requests.map(({ id, method, path, status, at }) => ({
    id,
    kind: 'request',
    at: new Date(Date.parse(at) + offsetSeconds * 1000).toISOString(),
    title: `${method} ${path}`,
    state: String(status),
  }))
  events = [...own, ...data].sort((a, b) => b.at.localeCompare(a.at))
  drawTimeline()
}

function drawTimeline() {
  const selectedKinds = [...document.querySelectorAll('#timeline-kinds input:checked')].map(
    ({ value }) => value,
  )
  const chosen = events.filter(({ kind }) => selectedKinds.includes(kind)).slice(0, shownAtMost)
  const text = JSON.stringify(chosen)
  if (text === shown) return
  shown = text
  fill(
    'timeline',
    chosen.map(({ kind, at, title, state }) =>
      element(
        'li',
        { 'data-kind': kind },
        element('span', { class: 'kind' }, kind),
        element('span', { class: 'what' }, title),
        element('span', { class: 'quiet' }, `${time(at)}${state ? `, ${state}` : ''}`),
      ),
    ),
    'No events yet.',
  )
}
