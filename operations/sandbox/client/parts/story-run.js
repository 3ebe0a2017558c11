/** Runs a story: fills placeholders, makes the calls and reads the progress from the API. Independent of the page. */

/** `{name}`, but not a template's `{{1}}`. */
const placeholder = /(?<!\{)\{([a-zA-Z]+)\}(?!\})/g

/** Placeholder names in a path or body without a value. */
export function findMissing(value, values) {
  const names = [...JSON.stringify(value ?? null).matchAll(placeholder)].map(([, name]) => name)
  return [...new Set(names)].filter((name) => values[name] === undefined || values[name] === null)
}

/** Fills the placeholders of a path or body. A value that is only a placeholder keeps the type. */
export function fillPlaceholders(value, values, write = (each) => each) {
  if (typeof value === 'string') {
    const [whole, name] = /^\{([a-zA-Z]+)\}$/.exec(value) ?? []
    if (whole && values[name] !== undefined) return values[name]
    return value.replace(placeholder, (all, each) =>
      values[each] === undefined ? all : write(String(values[each])),
    )
  }
  if (Array.isArray(value)) return value.map((each) => fillPlaceholders(each, values, write))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, fillPlaceholders(each, values, write)]),
  )
}

/** A call with its known placeholders filled. */
export function prepareCall({ method, path, body, form }, values) {
  return {
    method,
    path: fillPlaceholders(path, values, encodeURIComponent),
    ...(body === undefined ? {} : { body: fillPlaceholders(body, values) }),
    ...(form === undefined ? {} : { form: fillPlaceholders(form, values) }),
  }
}

/** Values that a call extracts. Throws a readable error if the answer has another form. */
function extractValues({ extracts, method, path }, answer) {
  try {
    return extracts?.(answer) ?? {}
  } catch {
    throw new Error(`The answer of ${method} ${path} has nothing of what the next step needs`)
  }
}

/**
 * `call` makes a request and returns `{ status, answer }`; reads pass `{ quiet: true }`. `values` holds the results
 * of earlier steps; the caller stores it.
 */
export class StoryRun {
  constructor(story, values, call) {
    this.story = story
    this.values = values
    this.done = story.steps.map(() => false)
    /** Requests and answers of each step's last run. */
    this.responses = story.steps.map(() => [])
    this.call = call
  }

  get isOver() {
    return this.done.every(Boolean)
  }

  /** Values that an earlier step must provide first. Only the first call counts: later ones use its result. */
  findMissingValues({ calls: [{ path, body }] }) {
    return findMissing([path, body], this.values)
  }

  /**
   * Reads the progress from the last step backwards: a step counts as done once a later one is, except persistent
   * steps, which are read themselves. This saves requests of the key's rate limit. Derived values may unlock the next
   * step, so it repeats until nothing changes.
   */
  async refresh() {
    const answers = new Map()
    const { steps } = this.story
    let last = -1
    for (let before = -2; before < last; ) {
      before = last
      for (let at = steps.length - 1; at > last; at -= 1) {
        if (!steps[at].isPersistent && (await this.isDone(steps[at], answers))) last = at
      }
    }
    const done = []
    for (const [at, step] of steps.entries()) {
      done.push(step.isPersistent ? await this.isDone(step, answers) : at <= last)
    }
    this.done = done
  }

  async isDone({ reads, derives, isDone }, answers) {
    if (findMissing(reads, this.values).length > 0) return false
    const path = fillPlaceholders(reads, this.values, encodeURIComponent)
    if (!answers.has(path)) answers.set(path, await this.call({ method: 'GET', path }, { quiet: true }))
    const { status, answer } = answers.get(path)
    if (status !== 200) return false
    for (const [name, value] of Object.entries(derives?.(answer, this.values) ?? {})) {
      if (value !== undefined && value !== null) this.values[name] = value
    }
    return Boolean(isDone(answer, this.values))
  }

  /** Makes the calls of a step, drains the jobs, and refreshes. */
  async runStep(step) {
    const at = this.story.steps.indexOf(step)
    this.responses[at] = []
    for (const each of step.calls) {
      const request = prepareCall(each, this.values)
      const { status, answer } = await this.call(request)
      this.responses[at].push({ request, status, answer })
      if (status >= 400) break
      Object.assign(this.values, extractValues(each, answer))
    }
    await this.call(
      { method: 'POST', path: '/sandbox/api/jobs/drain', body: { timeoutSeconds: 10 } },
      { quiet: true },
    )
    await this.refresh()
  }
}
