/** Tells a story: fills its steps, makes their calls, and asks how far the world really is. Knows no page. */

/** `{name}`, and none of a template's `{{1}}`. */
const slot = /(?<!\{)\{([a-zA-Z]+)\}(?!\})/g

/** The names that a path or body waits for and nobody knows yet. */
export function missing(value, known) {
  const names = [...JSON.stringify(value ?? null).matchAll(slot)].map(([, name]) => name)
  return [...new Set(names)].filter((name) => known[name] === undefined || known[name] === null)
}

/** A path or body with what is known in its slots; what a slot alone stands for keeps its type. */
export function filled(value, known, write = (each) => each) {
  if (typeof value === 'string') {
    const [whole, name] = /^\{([a-zA-Z]+)\}$/.exec(value) ?? []
    if (whole && known[name] !== undefined) return known[name]
    return value.replace(slot, (all, each) => (known[each] === undefined ? all : write(String(known[each]))))
  }
  if (Array.isArray(value)) return value.map((each) => filled(each, known, write))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each, known, write)]))
}

/** A call of a step, ready to be made as far as its names are known. */
export function readied({ method, path, body, form }, known) {
  return {
    method,
    path: filled(path, known, encodeURIComponent),
    ...(body === undefined ? {} : { body: filled(body, known) }),
    ...(form === undefined ? {} : { form: filled(form, known) }),
  }
}

/** What a call keeps; an answer of another form says so in words that somebody can act on. */
function keptOf({ keeps, method, path }, answer) {
  try {
    return keeps?.(answer) ?? {}
  } catch {
    throw new Error(`The answer of ${method} ${path} has nothing of what the next step needs`)
  }
}

/**
 * `call` makes a request and answers `{ status, answer }`; what only looks is `{ quiet: true }`. `known` is what earlier
 * steps found out, kept by whoever begins the telling.
 */
export class Telling {
  constructor(story, known, call) {
    this.story = story
    this.known = known
    this.done = story.steps.map(() => false)
    /** What each step sent and was answered, the last time it was told. */
    this.told = story.steps.map(() => [])
    this.call = call
  }

  get isOver() {
    return this.done.every(Boolean)
  }

  /** What an earlier step must find out before this one; a later call of a step goes by the one before it. */
  waitsFor({ calls: [{ path, body }] }) {
    return missing([path, body], this.known)
  }

  /**
   * Looks how far the world is, from the end: a step is behind whoever is past a later one, but for those that last,
   * which must be so now. The store's key may ask for little. What is learned may be what the next step waits for.
   */
  async look() {
    const answers = new Map()
    const { steps } = this.story
    let last = -1
    for (let before = -2; before < last; ) {
      before = last
      for (let at = steps.length - 1; at > last; at -= 1) {
        if (!steps[at].lasts && (await this.isDone(steps[at], answers))) last = at
      }
    }
    const done = []
    for (const [at, step] of steps.entries()) {
      done.push(step.lasts ? await this.isDone(step, answers) : at <= last)
    }
    this.done = done
  }

  async isDone({ reads, learns, isDone }, answers) {
    if (missing(reads, this.known).length > 0) return false
    const path = filled(reads, this.known, encodeURIComponent)
    if (!answers.has(path)) answers.set(path, await this.call({ method: 'GET', path }, { quiet: true }))
    const { status, answer } = answers.get(path)
    if (status !== 200) return false
    for (const [name, value] of Object.entries(learns?.(answer, this.known) ?? {})) {
      if (value !== undefined && value !== null) this.known[name] = value
    }
    return Boolean(isDone(answer, this.known))
  }

  /** Makes the calls of a step, lets the jobs that follow run, and looks again. */
  async tell(step) {
    const at = this.story.steps.indexOf(step)
    this.told[at] = []
    for (const each of step.calls) {
      const request = readied(each, this.known)
      const { status, answer } = await this.call(request)
      this.told[at].push({ request, status, answer })
      if (status >= 400) break
      Object.assign(this.known, keptOf(each, answer))
    }
    await this.call(
      { method: 'POST', path: '/sandbox/api/jobs/drain', body: { timeoutSeconds: 10 } },
      { quiet: true },
    )
    await this.look()
  }
}
