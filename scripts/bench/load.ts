/**
 * The load: connections that stay open, each sending its next request when it has its answer. Written on sockets: the
 * usual tools spend more on reading an answer, each header of it, than a server on making one, and would measure that.
 */
import { connect } from 'node:net'
import type { OperationName, Shop } from './kinds.ts'
import { type Measured, operations } from './operations.ts'

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
  shops: readonly Shop[],
  connections: number,
  seconds: number,
): Promise<Load> {
  const measured = operations[name]
  const { status, tag } = measured
  if (tag && shops.length < connections) {
    throw new Error(
      `${measured.title} needs a store for each connection: ${connections}, not ${shops.length}`,
    )
  }
  const turns = new Turns(shops, measured, new URL(url))
  if (tag) await readTags(url, turns, connections)
  const times = new Latencies()
  const startedAt = performance.now()
  const until = startedAt + seconds * 1000
  const next = (): Exchange | null => {
    if (performance.now() >= until) return null
    const turn = turns.next()
    const askedAt = performance.now()
    return {
      text: turn.request(),
      answered(answer, head) {
        times.add(performance.now() - askedAt)
        if (answer !== status)
          throw new Error(`${name} at ${url}: ${answer} instead of ${status}, for ${turn.text}`)
        turn.done(head)
      },
    }
  }
  await exchange(url, connections, next)
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

/** Sends reads of one store until they are refused. */
export async function useUpLimit(url: string, shop: Shop, connections: number): Promise<void> {
  const turns = new Turns([shop], operations.read, new URL(url))
  let isUsedUp = false
  await exchange(url, connections, () => {
    if (isUsedUp) return null
    const turn = turns.next()
    return {
      text: turn.request(),
      answered(answer) {
        if (answer === operations.limited.status) isUsedUp = true
        else if (answer !== 200) throw new Error(`a read at ${url}: ${answer}`)
      },
    }
  })
}

/** The ETag of each store's resource, as the server answers it now. */
async function readTags(url: string, turns: Turns, connections: number): Promise<void> {
  const tags = turns.forTags()
  await exchange(url, connections, () => {
    const turn = tags.shift()
    if (!turn) return null
    return {
      text: turn.request(),
      answered(answer, head) {
        if (answer !== 200) throw new Error(`a read at ${url}: ${answer}`)
        turn.done(head)
      },
    }
  })
}

interface Turn {
  request(): string
  /** Its first line, for a fault. */
  readonly text: string
  /** Answered: `head` are its headers. */
  done(head: string): void
}

/** Whose turn it is; whoever has an answer outstanding that its next request depends on has none. */
class Turns {
  readonly #measured: Measured
  readonly #shops: readonly Shop[]
  readonly #heads: readonly string[]
  readonly #tags: string[] = []
  readonly #free: number[]
  #sent = 0
  #runs = Math.random().toString(36).slice(2)

  constructor(shops: readonly Shop[], measured: Measured, { host }: URL) {
    this.#shops = shops
    this.#measured = measured
    const { method, path } = measured
    this.#heads = shops.map(
      (shop) =>
        `${method} ${path(shop)} HTTP/1.1\r\nhost: ${host}\r\nx-forwarded-for: ${shop.address}\r\n` +
        'connection: keep-alive\r\n',
    )
    this.#free = shops.map((_, at) => at)
  }

  next(): Turn {
    const turn = Math.floor(this.#sent / this.#shops.length)
    const at = this.#measured.tag ? this.#free.shift()! : this.#sent % this.#shops.length
    this.#sent += 1
    return {
      text: this.#heads[at]!.split('\r\n', 1)[0]!,
      request: () => this.#request(at, turn),
      done: (head) => this.#done(at, head),
    }
  }

  /** A read of each store's resource. */
  forTags(): Turn[] {
    return this.#shops.map((shop, at) => {
      const head = this.#heads[at]!.replace(/^\w+/, 'GET')
      const text = `${head}authorization: Bearer ${this.#measured.key(shop, 0)}\r\n\r\n`
      return { text: head, request: () => text, done: (answer) => this.#keepTag(at, answer) }
    })
  }

  #request(at: number, turn: number): string {
    const { key, body, tag, isOnce } = this.#measured
    let head = `${this.#heads[at]}authorization: Bearer ${key(this.#shops[at]!, turn)}\r\n`
    if (tag) head += `${tag}: ${this.#tags[at]}\r\n`
    if (isOnce) head += `idempotency-key: ${this.#runs}-${this.#sent}\r\n`
    if (!body) return `${head}\r\n`
    const text = body() // plain ASCII
    return `${head}content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`
  }

  #done(at: number, head: string): void {
    if (!this.#measured.tag) return
    this.#keepTag(at, head)
    this.#free.push(at)
  }

  /** A peer that knows no tags is sent one that it does not look at. */
  #keepTag(at: number, head: string): void {
    this.#tags[at] = /\r\netag: *(\S+)/i.exec(head)?.[1] ?? this.#tags[at] ?? '"none"'
  }
}

interface Exchange {
  text: string
  /** What it throws ends the load. */
  answered(status: number, head: string): void
}

/** Connections that take one exchange after the other, until there is none. */
async function exchange(url: string, connections: number, next: () => Exchange | null): Promise<void> {
  const { hostname, port } = new URL(url)
  const sender = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      let current: Exchange | null = null
      const ask = (): void => {
        current = next()
        if (current) socket.write(current.text, 'latin1')
        else socket.end()
      }
      const answers = new Answers((status, head) => {
        current!.answered(status, head)
        ask()
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
      socket.once('close', () => (current ? reject(new Error(`${url} closed a connection`)) : resolve()))
    })
  await Promise.all(Array.from({ length: connections }, sender))
}

/** Finds where each answer of a connection ends, by its Content-Length; text in Latin-1, so that a letter is a byte. */
export class Answers {
  readonly #onAnswer: (status: number, head: string) => void
  #rest = ''

  constructor(onAnswer: (status: number, head: string) => void) {
    this.#onAnswer = onAnswer
  }

  /** Throws on an answer without a length that must have one. */
  read(text: string): void {
    this.#rest += text
    for (;;) {
      const headEnds = this.#rest.indexOf('\r\n\r\n')
      if (headEnds < 0) return
      const head = this.#rest.slice(0, headEnds)
      const status = Number(head.slice(9, 12))
      const ends = headEnds + 4 + lengthOf(status, head)
      if (this.#rest.length < ends) return
      this.#rest = this.#rest.slice(ends)
      this.#onAnswer(status, head)
    }
  }
}

function lengthOf(status: number, head: string): number {
  // Whatever it says of the body that it leaves out.
  if (status === 304 || status === 204) return 0
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)
  if (!length) throw new Error(`An answer has no Content-Length: ${head}`)
  return Number(length[1])
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
