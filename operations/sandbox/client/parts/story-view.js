/** The stories on the page: each step with its button, what it sends, and what was answered. */
import { call, curlOf, faultOf, keyOf } from './calls.js'
import { button, byId, element } from './dom.js'
import { stories } from './stories.js'
import { readied, Telling } from './telling.js'

const kept = 'sandbox-stories'
const answerAtMost = 4000
/** Who looks more often than this is told to wait: the key has 120 requests a minute. */
const looksEveryMs = 4000
let shop = null
let views = []
let isStale = false

const rememberedOf = () => JSON.parse(sessionStorage.getItem(kept) ?? '{}')
const anew = () => ({ telling: String(1000 + (crypto.getRandomValues(new Uint16Array(1))[0] % 9000)) })

/** Of a store `{ slug, publicId }`, with the key to act as it; null where there is none. */
export function showStories(wanted, say) {
  shop = wanted
  const open = views.find(({ shell }) => shell.open)?.telling.story.id
  views = stories.map((story) => viewOf(story, say))
  byId('stories').replaceChildren(...views.map(({ shell }) => shell))
  byId('stories-locked').hidden = shop !== null
  const opened = views.find(({ telling }) => telling.story.id === open)
  if (opened) opened.shell.open = true
}

/** Where the world is another, the open story may be further on: looked at as soon as the key may ask again. */
export async function lookAgain(isAnother) {
  if (isAnother) isStale = true
  const view = views.find(({ shell }) => shell.open)
  if (!isStale || !view || !shop || Date.now() - view.lookedAt < looksEveryMs) return
  isStale = false
  await view.look()
}

function tellingOf(story) {
  const remembered = shop ? rememberedOf()[`${shop.slug} ${story.id}`] : null
  const known = { ...(remembered ?? anew()), store: shop?.slug, publicId: shop?.publicId }
  return new Telling(story, known, (request, options) =>
    call(request, { key: shop ? keyOf(shop.slug) : null, ...options }),
  )
}

function remember({ story, known }) {
  sessionStorage.setItem(kept, JSON.stringify({ ...rememberedOf(), [`${shop.slug} ${story.id}`]: known }))
}

function viewOf(story, say) {
  const telling = tellingOf(story)
  const progress = element('span', { class: 'progress' }, '')
  const steps = story.steps.map((step) => stepOf(step))
  const view = { telling, lookedAt: 0, isBusy: false, shell: null, look }
  view.shell = element(
    'details',
    {
      class: 'story',
      name: 'story',
      'data-story': story.id,
      ontoggle: () => view.shell.open && shop && look(),
    },
    element('summary', {}, element('h3', {}, story.title), progress),
    element('ol', { class: 'steps' }, ...steps.map(({ shell }) => shell)),
    element(
      'p',
      { class: 'buttons' },
      button('Tell it again, with other people', again, { class: 'second' }),
    ),
  )
  draw()
  return view

  function stepOf(step) {
    const state = element('span', { class: 'state' }, '')
    const fault = element('p', { class: 'fault', role: 'alert' })
    const calls = element('div', {})
    const act = button('Do it', () => tell(step), { 'aria-label': `Do it: ${step.text}` })
    const link = step.link ? element('a', { target: '_blank', rel: 'noopener' }, step.link.text) : null
    const shell = element(
      'li',
      { class: 'step' },
      element(
        'div',
        { class: 'act' },
        element('p', { class: 'told' }, element('span', { class: 'by' }, step.by), ` ${step.text} `, state),
        element('div', { class: 'buttons' }, link, act),
      ),
      fault,
      element('details', { class: 'calls' }, element('summary', {}, 'What is sent and answered'), calls),
    )
    return { step, shell, state, fault, calls, act, link, shown: '' }
  }

  async function again() {
    sessionStorage.setItem(kept, JSON.stringify({ ...rememberedOf(), [`${shop.slug} ${story.id}`]: anew() }))
    Object.assign(telling, tellingOf(story))
    await look()
  }

  async function look() {
    if (!shop || view.isBusy) return
    view.lookedAt = Date.now()
    try {
      await telling.look()
      remember(telling)
    } catch (error) {
      say(`${story.title}: ${error.message}`)
    }
    draw()
  }

  async function tell(step) {
    if (view.isBusy) return
    view.isBusy = true
    say(`${step.text} …`)
    const part = steps.find((each) => each.step === step)
    part.fault.textContent = ''
    try {
      await telling.tell(step)
      remember(telling)
      const failed = telling.told[story.steps.indexOf(step)].find(({ status }) => status >= 400)
      if (failed) part.fault.textContent = faultOf(failed.status, failed.answer)
      say(failed ? `Refused: ${part.fault.textContent}` : `${step.text} Done.`)
    } catch (error) {
      part.fault.textContent = error.message
      say(error.message)
    }
    view.isBusy = false
    view.lookedAt = Date.now()
    draw()
  }

  function draw() {
    const { done, isOver } = telling
    const next = done.indexOf(false)
    const { length } = story.steps
    progress.textContent = isOver
      ? `told, ${length} steps`
      : view.lookedAt > 0
        ? `${done.filter(Boolean).length} of ${length} done`
        : `${length} steps`
    view.shell.toggleAttribute('data-over', isOver)
    for (const [at, part] of steps.entries()) drawStep(part, at, next)
  }

  function drawStep({ step, shell, state, calls, act, link, shown }, at, next) {
    const isDone = telling.done[at]
    const waits = telling.waitsFor(step).length > 0
    shell.toggleAttribute('data-done', isDone)
    shell.toggleAttribute('data-next', at === next)
    if (at === next) shell.setAttribute('aria-current', 'step')
    else shell.removeAttribute('aria-current')
    state.textContent = isDone ? '✓ done' : waits ? 'waits for a step before it' : ''
    act.disabled = !shop || waits
    act.className = at === next ? '' : 'second'
    if (link) {
      const { path } = readied({ path: step.link.path }, telling.known)
      const isKnown = !path.includes('{')
      link.hidden = !isKnown
      if (isKnown) link.href = path
    }
    const told = telling.told[at]
    const rows =
      told.length > 0 ? told : step.calls.map((each) => ({ request: readied(each, telling.known) }))
    const text = JSON.stringify(rows)
    const part = steps[at]
    if (shown === text) return
    part.shown = text
    calls.replaceChildren(...rows.map(callOf))
  }
}

function callOf({ request, status, answer }) {
  const { method, path, body, form } = request
  const key = shop ? keyOf(shop.slug) : null
  const masked = key ? `${key.slice(0, 12)}…` : 'mk_live_…'
  const sent = form ?? body
  const text = JSON.stringify(answer, null, 2) ?? ''
  const copy = button(
    'Copy as curl',
    async () => {
      await navigator.clipboard.writeText(curlOf(request, key))
      copy.textContent = 'Copied'
    },
    { class: 'second', 'aria-label': `Copy as curl: ${method} ${path}` },
  )
  return element(
    'div',
    { class: 'call' },
    element('p', {}, element('code', {}, `${method} ${path}`)),
    sent === undefined ? null : block(`Body of ${method} ${path}`, JSON.stringify(sent, null, 2)),
    element('details', {}, element('summary', {}, 'curl'), block(`curl ${path}`, curlOf(request, masked))),
    copy,
    status === undefined
      ? null
      : element('p', { class: 'answered' }, 'Answered ', element('strong', {}, String(status))),
    status === undefined || answer === null
      ? null
      : block(
          `Answer of ${method} ${path}`,
          text.length > answerAtMost ? `${text.slice(0, answerAtMost)}\n… (${text.length} characters)` : text,
        ),
  )
}

const block = (label, text) =>
  element('pre', { class: 'block', tabindex: '0', role: 'region', 'aria-label': label }, text)
