/** Runs a story: fills placeholders, makes the calls and reads the progress from the API. Does not use the page. */

/** Matches `{name}`, but not `{{1}}` of a message template. */
const placeholder = /(?<!\{)\{([a-zA-Z]+)\}(?!\})/g

/** Returns the names of placeholders in a path or body that have no value yet. */
export function findMissing(value, values) {
  const names = [...JSON.stringify(value ?? null).matchAll(placeholder)].map(([, name]) => name)
  return [...new Set(names)].filter((name) => values[name] === undefined || values[name] === null)
}

/** Fills the placeholders of a path or body. A text that is only a placeholder becomes the value with its own type. */
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

/** Returns a call with its known placeholders filled. */
export function prepareCall({ method, path, body, form }, values) {
  return {
    method,
    path: fillPlaceholders(path, values, encodeURIComponent),
    ...(body === undefined ? {} : { body: fillPlaceholders(body, values) }),
    ...(form === undefined ? {} : { form: fillPlaceholders(form, values) }),
  }
}

/** Returns the values that a call extracts from its response. Throws a readable error if the response has another form. */
function extractValues({ extracts, method, path }, answer) {
  try {
    return extracts?.(answer) ?? {}
  } catch {
    throw new Error(`The answer of ${method} ${path} has nothing of what the next step needs`)
  }
}

/**
 * One run of a story. `call` makes a request and returns `{ status, answer }`; polling passes `{ quiet: true }`. `values`
 * contains the results of earlier steps, and is stored by the caller.
 */
export class StoryRun {
  constructor(story, values, call) {
    this.story = story
    this.values = values
    this.done = story.steps.map(() => false)
    /** Requests and responses of each step's last run. */
    this.responses = story.steps.map(() => [])
    this.call = call
  }

  get isOver() {
    return this.done.every(Boolean)
  }

  /** Returns the missing values of the step's first call. Later calls are not checked, because they use its result. */
  findMissingValues({ calls: [{ path, body }] }) {
    return findMissing([path, body], this.values)
  }

  /**
   * Reads the progress from the last step backwards. The steps before a finished step count as done without a request,
   * which saves requests of the key's rate limit; only persistent steps are always read. Derived values may unlock the
   * next step, so this repeats until nothing changes.
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
