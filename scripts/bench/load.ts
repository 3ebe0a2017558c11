/**
 * The load: connections that stay open, each sending its next request when it has its answer. Written on sockets: the
 * usual tools spend more on reading an answer, each header of it, than a server on making one, and would measure that.
 */
import { connect } from 'node:net'
import type { Fixture, OperationName } from './kinds.ts'
import { operations } from './operations.ts'

export interface Load {
  requests: number
  seconds: number
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  p999Ms: number
}

/** Throws when an answer has another status than the operation's, or a connection failed. */
export async function sendLoad(
  url: string,
  name: OperationName,
  fixture: Fixture,
  connections: number,
  seconds: number,
): Promise<Load> {
  const { hostname, port } = new URL(url)
  const { method, path, key, body, status } = operations[name]
  const heads = fixture.shops.map(
    (shop, at) =>
      `${method} ${path(shop)} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nx-forwarded-for: 10.1.${at >> 8}.${at & 255}\r\n` +
      `authorization: Bearer ${key(shop)}\r\nconnection: keep-alive\r\n`,
  )
  let sent = 0
  const nextRequest = (): string => {
    const head = heads[sent % heads.length]!
    sent += 1
    if (!body) return `${head}\r\n`
    const text = body() // plain ASCII
    return `${head}content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`
  }
  const times = new Latencies()
  const startedAt = performance.now()
  const until = startedAt + seconds * 1000
  const unexpected = (told: string): Error => new Error(`${name} at ${url}: ${told} instead of ${status}`)
  const sender = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      let askedAt = 0
      const ask = (): void => {
        askedAt = performance.now()
        socket.write(nextRequest(), 'latin1')
      }
      const answers = new Answers((answered) => {
        const now = performance.now()
        if (answered !== status) return void socket.destroy(unexpected(String(answered)))
        times.add(now - askedAt)
        if (now < until) ask()
        else socket.end()
      })
      socket.setEncoding('latin1')
      socket.on('connect', ask)
      socket.on('data', (text: string) => {
        try {
          answers.read(text)
        } catch (error) {
          socket.destroy(error as Error)
        }
      })
      socket.once('error', reject)
      socket.once('close', () =>
        performance.now() < until ? reject(unexpected('a closed connection')) : resolve(),
      )
    })
  await Promise.all(Array.from({ length: connections }, sender))
  const taken = (performance.now() - startedAt) / 1000
  return {
    requests: times.count,
    seconds: taken,
    requestsPerSecond: times.count / taken,
    p50Ms: times.percentile(0.5),
    p99Ms: times.percentile(0.99),
    p999Ms: times.percentile(0.999),
  }
}

/** Finds where each answer of a connection ends, by its Content-Length; text in Latin-1, so that a letter is a byte. */
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

/** Counts in steps of 2 %. */
class Latencies {
  readonly #counts = new Uint32Array(1024)
  count = 0

  add(milliseconds: number): void {
    const step = Math.round(Math.log(Math.max(milliseconds, 0.001) / 0.001) / Math.log(1.02))
    this.#counts[Math.min(step, this.#counts.length - 1)]! += 1
    this.count += 1
  }

  percentile(part: number): number {
    let left = this.count * part
    for (const [step, count] of this.#counts.entries()) {
      left -= count
      if (left <= 0) return 0.001 * 1.02 ** step
    }
    return Number.NaN
  }
}
