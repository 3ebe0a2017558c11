/**
 * Batches the questions of many requests: a lone question is asked at once, those that arrive while a statement is under
 * way are asked together by the next one.
 */
export class Gathered<Question, Answer> {
  readonly #ask: Ask<Question, Answer>
  readonly #nameOf: (question: Question) => string
  readonly #atMost: number
  #waiting: Waiting<Question, Answer>[] = []
  #isUnderWay = false

  /**
   * `ask` answers in the order of the questions; an answer may be a promise, which no other question waits for. Questions
   * of the same name are asked one after the other, at most `atMost` in one statement.
   */
  constructor(ask: Ask<Question, Answer>, nameOf: (question: Question) => string, atMost = 500) {
    this.#ask = ask
    this.#nameOf = nameOf
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
      const now = this.#next()
      try {
        const answers = await this.#ask(now.map(({ question }) => question))
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
