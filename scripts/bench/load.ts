/**
 * The load generator: keep-alive connections that each send the next request after an answer. Written on sockets,
 * because the usual tools spend more CPU on reading an answer than a server on making one, and would measure
 * themselves.
 */
import { connect } from 'node:net'
import { type OperationName, operations, type Shop } from './operations.ts'

export interface Load {
  requests: number
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
}

/** Throws on an unexpected status, and if a connection fails. */
export async function sendLoad(
  url: string,
  name: OperationName,
  shops: readonly Shop[],
  connections: number,
  seconds: number,
): Promise<Load> {
  const { method, path, body, status } = operations[name]
  const { hostname, port, host } = new URL(url)
  const heads = shops.map(
    (shop) =>
      `${method} ${path(shop)} HTTP/1.1\r\nhost: ${host}\r\nx-forwarded-for: ${shop.address}\r\n` +
      `connection: keep-alive\r\nauthorization: Bearer ${shop.key}\r\n`,
  )
  let sent = 0
  const nextRequest = (): string => {
    const head = heads[sent % heads.length]!
    sent += 1
    if (!body) return `${head}\r\n`
    const text = body() // plain ASCII
    return `${head}content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`
  }
  const times: number[] = []
  const startedAt = performance.now()
  const until = startedAt + seconds * 1000
  const sendOnOne = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      let sentAt = 0
      let isDone = false
      const send = (): void => {
        sentAt = performance.now()
        isDone = sentAt >= until
        if (isDone) socket.end()
        else socket.write(nextRequest(), 'latin1')
      }
      const answers = new Answers((answered) => {
        times.push(performance.now() - sentAt)
        if (answered !== status) throw new Error(`${name} at ${url}: ${answered} instead of ${status}`)
        send()
      })
      socket.setEncoding('latin1')
      socket.on('connect', send)
      socket.on('data', (text: string) => {
        try {
          answers.read(text)
        } catch (error) {
          socket.destroy(error as Error)
        }
      })
      socket.once('error', reject)
      socket.once('close', () => (isDone ? resolve() : reject(new Error(`${url} closed a connection`))))
    })
  await Promise.all(Array.from({ length: connections }, sendOnOne))
  const taken = (performance.now() - startedAt) / 1000
  return {
    requests: times.length,
    requestsPerSecond: times.length / taken,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
  }
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)]!
}

/**
 * Finds the end of each answer of a connection by its Content-Length; text in Latin-1, so that a character is a byte.
 */
export class Answers {
  readonly #onAnswer: (status: number) => void
  #rest = ''

  constructor(onAnswer: (status: number) => void) {
    this.#onAnswer = onAnswer
  }

  /** Throws on an answer without a length. */
  read(text: string): void {
    this.#rest += text
    for (;;) {
      const headEnds = this.#rest.indexOf('\r\n\r\n')
      if (headEnds < 0) return
      const head = this.#rest.slice(0, headEnds)
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)
      if (!length) throw new Error(`An answer has no Content-Length: ${head}`)
      const ends = headEnds + 4 + Number(length[1])
      if (this.#rest.length < ends) return
      this.#rest = this.#rest.slice(ends)
      this.#onAnswer(Number(head.slice(9, 12)))
    }
  }
}
