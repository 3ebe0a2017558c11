/** Shows the stories on the page: each step with its button, requests and responses. */
import { call, getKey, readError, toCurl } from './calls.js'
import { button, byId, element } from './dom.js'
import { stories } from './stories.js'
import { prepareCall, StoryRun } from './story-run.js'

const storageKey = 'sandbox-stories'
const answerAtMost = 4000
/** Polling interval, chosen to stay below the key's rate limit of 120 requests a minute. */
const refreshIntervalMs = 4000
let shop = null
let views = []
let isStale = false

const readSaved = () => JSON.parse(sessionStorage.getItem(storageKey) ?? '{}')
const createValues = () => ({ run: String(1000 + (crypto.getRandomValues(new Uint16Array(1))[0] % 9000)) })

/** Shows the stories of a store; `?story=` opens one. `store`: `{ slug, publicId }` of the store whose key is known, or null. */
export function showStories(store, say) {
  shop = store
  const asked = new URLSearchParams(location.search).get('story')
  const open = views.length > 0 ? views.find(({ shell }) => shell.open)?.run.story.id : asked
  views = stories.map((story) => createView(story, say))
  byId('stories').replaceChildren(...views.map(({ shell }) => shell))
  byId('stories-locked').hidden = shop !== null
  const opened = views.find(({ run }) => run.story.id === open)
  if (opened) opened.shell.open = true
}

/** Refreshes the open story after a change, as soon as the rate limit allows. */
export async function refreshStories(hasChanged) {
  if (hasChanged) isStale = true
  const view = views.find(({ shell }) => shell.open)
  if (!isStale || !view || !shop || Date.now() - view.refreshedAt < refreshIntervalMs) return
  isStale = false
  await view.refresh()
}

function createRun(story) {
  const saved = shop ? readSaved()[`${shop.slug} ${story.id}`] : null
  const values = { ...(saved ?? createValues()), store: shop?.slug, publicId: shop?.publicId }
  return new StoryRun(story, values, (request, options) =>
    call(request, { key: shop ? getKey(shop.slug) : null, ...options }),
  )
}

function saveValues({ story, values }) {
  sessionStorage.setItem(storageKey, JSON.stringify({ ...readSaved(), [`${shop.slug} ${story.id}`]: values }))
}

function createView(story, say) {
  const run = createRun(story)
  const progress = element('span', { class: 'progress' }, '')
  const steps = story.steps.map((step) => createStep(step))
  const view = { run, refreshedAt: 0, isBusy: false, shell: null, refresh }
  view.shell = element(
    'details',
    {
      class: 'story',
      name: 'story',
      'data-story': story.id,
      ontoggle: () => view.shell.open && shop && refresh(),
    },
    element('summary', {}, element('h3', {}, story.title), progress),
    element('ol', { class: 'steps' }, ...steps.map(({ shell }) => shell)),
    element('p', { class: 'buttons' }, button('Run again with other people', restart, { class: 'second' })),
  )
  draw()
  return view

  function createStep(step) {
    const state = element('span', { class: 'state' }, '')
    const fault = element('p', { class: 'fault', role: 'alert' })
    const calls = element('div', {})
    const act = button('Do it', () => runStep(step), { 'aria-label': `Do it: ${step.text}` })
    const link = step.link ? element('a', { target: '_blank', rel: 'noopener' }, step.link.text) : null
    const shell = element(
      'li',
      { class: 'step' },
      element(
        'div',
        { class: 'act' },
        element(
          'p',
          { class: 'narration' },
          element('span', { class: 'by' }, step.by),
          ` ${step.text} `,
          state,
        ),
        element('div', { class: 'buttons' }, link, act),
      ),
      fault,
      element('details', { class: 'calls' }, element('summary', {}, 'Request and response'), calls),
    )
    return { step, shell, state, fault, calls, act, link, shown: '' }
  }

  async function restart() {
    sessionStorage.setItem(
      storageKey,
      JSON.stringify({ ...readSaved(), [`${shop.slug} ${story.id}`]: createValues() }),
    )
    Object.assign(run, createRun(story))
    await refresh()
  }

  async function refresh() {
    if (!shop || view.isBusy) return
    view.refreshedAt = Date.now()
    try {
      await run.refresh()
      saveValues(run)
    } catch (error) {
      say(`${story.title}: ${error.message}`)
    }
    draw()
  }

  async function runStep(step) {
    if (view.isBusy) return
    view.isBusy = true
    say(`${step.text} …`)
    const part = steps.find((each) => each.step === step)
    part.fault.textContent = ''
    try {
      await run.runStep(step)
      saveValues(run)
      const failed = run.responses[story.steps.indexOf(step)].find(({ status }) => status >= 400)
      if (failed) part.fault.textContent = readError(failed.status, failed.answer)
      say(failed ? `Refused: ${part.fault.textContent}` : `${step.text} Done.`)
    } catch (error) {
      part.fault.textContent = error.message
      say(error.message)
    }
    view.isBusy = false
    view.refreshedAt = Date.now()
    draw()
  }

  function draw() {
    const { done, isOver } = run
    const next = done.indexOf(false)
    const { length } = story.steps
    progress.textContent = isOver
      ? `done, ${length} steps`
      : view.refreshedAt > 0
        ? `${done.filter(Boolean).length} of ${length} done`
        : `${length} steps`
    view.shell.toggleAttribute('data-over', isOver)
    for (const [at, part] of steps.entries()) drawStep(part, at, next)
  }

  function drawStep({ step, shell, state, calls, act, link, shown }, at, next) {
    const isDone = run.done[at]
    const waits = run.findMissingValues(step).length > 0
    shell.toggleAttribute('data-done', isDone)
    shell.toggleAttribute('data-next', at === next)
    if (at === next) shell.setAttribute('aria-current', 'step')
    else shell.removeAttribute('aria-current')
    state.textContent = isDone ? '✓ done' : waits ? 'needs an earlier step' : ''
    act.disabled = !shop || waits
    act.className = at === next ? '' : 'second'
    if (link) {
      const { path } = prepareCall({ path: step.link.path }, run.values)
      const isKnown = !path.includes('{')
      link.hidden = !isKnown
      if (isKnown) link.href = path
    }
    const responses = run.responses[at]
    const rows =
      responses.length > 0
        ? responses
        : step.calls.map((each) => ({ request: prepareCall(each, run.values) }))
    const text = JSON.stringify(rows)
    const part = steps[at]
    if (shown === text) return
    part.shown = text
    calls.replaceChildren(...rows.map(renderCall))
  }
}

function renderCall({ request, status, answer }) {
  const { method, path, body, form } = request
  const key = shop ? getKey(shop.slug) : null
  const masked = key ? `${key.slice(0, 12)}…` : 'mk_live_…'
  const sent = form ?? body
  const text = JSON.stringify(answer, null, 2) ?? ''
  const copy = button(
    'Copy as curl',
    async () => {
      await navigator.clipboard.writeText(toCurl(request, key))
      copy.textContent = 'Copied'
    },
    { class: 'second', 'aria-label': `Copy as curl: ${method} ${path}` },
  )
  return element(
    'div',
    { class: 'call' },
    element('p', {}, element('code', {}, `${method} ${path}`)),
    sent === undefined ? null : block(`Body of ${method} ${path}`, JSON.stringify(sent, null, 2)),
    element('details', {}, element('summary', {}, 'curl'), block(`curl ${path}`, toCurl(request, masked))),
    copy,
    status === undefined
      ? null
      : element('p', { class: 'answered' }, 'Status ', element('strong', {}, String(status))),
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
