/**
 * Batches the queries of many requests. The first query is sent at once; queries that arrive while a statement is
 * running share the next statement.
 */
export class BatchLoader<Question, Answer> {
  readonly #load: Load<Question, Answer>
  readonly #keyOf: (question: Question) => string
  readonly #atMost: number
  #waiting: Waiting<Question, Answer>[] = []
  #isUnderWay = false

  /**
   * `load` returns the answers in the order of the questions; an answer may be a promise, which does not delay the
   * others. Questions with the same key are never in the same statement. A statement has at most `atMost` questions.
   */
  constructor(load: Load<Question, Answer>, keyOf: (question: Question) => string, atMost = 500) {
    this.#load = load
    this.#keyOf = keyOf
    this.#atMost = atMost
  }

  load(question: Question): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    this.#waiting.push({ question, resolve, reject })
    if (!this.#isUnderWay) {
      this.#isUnderWay = true
      // Deferred to a microtask, so that the batch includes other questions of the same turn of the event loop.
      queueMicrotask(() => void this.#loadAll())
    }
    return promise
  }

  async #loadAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const now = this.#next()
      try {
        const answers = await this.#load(now.map(({ question }) => question))
        for (const [at, { resolve }] of now.entries()) resolve(answers[at]!)
      } catch (error) {
        for (const { reject } of now) reject(error)
      }
    }
    this.#isUnderWay = false
  }

  #next(): Waiting<Question, Answer>[] {
    const now = new Map<string, Waiting<Question, Answer>>()
    const later: Waiting<Question, Answer>[] = []
    for (const each of this.#waiting) {
      const key = this.#keyOf(each.question)
      if (now.size < this.#atMost && !now.has(key)) now.set(key, each)
      else later.push(each)
    }
    this.#waiting = later
    return [...now.values()]
  }
}

type Load<Question, Answer> = (
  questions: readonly Question[],
) => Promise<readonly (Answer | Promise<Answer>)[]>

interface Waiting<Question, Answer> {
  question: Question
  resolve(answer: Answer | Promise<Answer>): void
  reject(reason: unknown): void
}
