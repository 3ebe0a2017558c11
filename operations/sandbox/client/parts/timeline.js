/** What happened, as it happens: what this page asked for, and what the server wrote down. */
import { requests } from './calls.js'
import { byId, element, fill, time } from './dom.js'

const shownAtMost = 100
const kinds = { request: 'Requests', job: 'Jobs', message: 'Messages', hook: 'Hooks', mail: 'Mail' }
let events = []
let shown = ''

/** Draws the filters once; each draws the timeline anew. */
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

/** Of the server's clock, which may have been moved: the page's own lie beside what they caused. */
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
  const wanted = [...document.querySelectorAll('#timeline-kinds input:checked')].map(({ value }) => value)
  const chosen = events.filter(({ kind }) => wanted.includes(kind)).slice(0, shownAtMost)
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
    'Nothing of these has happened yet.',
  )
}
