/**
 * Questions of many requests in one statement: those that come while one is under way are asked together in the next, so
 * that the more there are, the fewer statements each costs. Alone it is asked at once; where somebody came meanwhile,
 * others will too, and the next statement waits until `everyMs` after the last one began.
 */
export class Gathered<Question, Answer> {
  readonly #ask: Ask<Question, Answer>
  readonly #nameOf: (question: Question) => string
  readonly #everyMs: number
  readonly #atMost: number
  #waiting: Waiting<Question, Answer>[] = []
  #isUnderWay = false

  /**
   * `ask` answers in the order of the questions; where an answer is still to come or to fail, nobody else waits for it. Of those with one name (`nameOf`) one is asked at a time. `atMost`: so
   * many in one statement.
   */
  constructor(ask: Ask<Question, Answer>, nameOf: (question: Question) => string, everyMs = 0, atMost = 500) {
    this.#ask = ask
    this.#nameOf = nameOf
    this.#everyMs = everyMs
    this.#atMost = atMost
  }

  ask(question: Question): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    this.#waiting.push({ question, resolve, reject })
    if (!this.#isUnderWay) {
      this.#isUnderWay = true
      // What else the same turn of the loop asks comes along.
      queueMicrotask(() => void this.#askAll())
    }
    return promise
  }

  async #askAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const began = performance.now()
      const now = this.#next()
      try {
        const answers = await this.#ask(now.map(({ question }) => question))
        for (const [at, { resolve }] of now.entries()) resolve(answers[at]!)
      } catch (error) {
        for (const { reject } of now) reject(error)
      }
      const early = began + this.#everyMs - performance.now()
      if (early >= 1 && this.#waiting.length > 0) await new Promise((resolve) => setTimeout(resolve, early))
    }
    this.#isUnderWay = false
  }

  #next(): Waiting<Question, Answer>[] {
    const now = new Map<string, Waiting<Question, Answer>>()
    const later: Waiting<Question, Answer>[] = []
    for (const each of this.#waiting) {
      const name = this.#nameOf(each.question)
      if (now.size < this.#atMost && !now.has(name)) now.set(name, each)
      else later.push(each)
    }
    this.#waiting = later
    return [...now.values()]
  }
}

type Ask<Question, Answer> = (
  questions: readonly Question[],
) => Promise<readonly (Answer | Promise<Answer>)[]>

interface Waiting<Question, Answer> {
  question: Question
  resolve(answer: Answer | Promise<Answer>): void
  reject(reason: unknown): void
}
