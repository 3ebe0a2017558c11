/**
 * The one place where it is heard what becomes of calls: every adapter that a section holds comes through here, so that
 * nobody has to remember to tell. A call that succeeds where nothing was wrong costs nothing.
 */
import type { Wired } from '#runtime/wiring'
import type { Clock } from '../clock.ts'
import type { Adapters, SectionAdapters } from './adapters.ts'
import { Throttled, Unavailable } from './errors.ts'
import type { MailPort } from './mail/port.ts'
import type { OwnPort, PortFacts, PortName, SectionPorts } from './ports.ts'
import type { Finding, ProviderStore } from './provider.ts'

/** What became of one call. */
export interface Outcome {
  port: PortName
  provider: string
  /** Whose connection; null: the server's own. */
  store: ProviderStore | null
  startedAt: Date
  /** Null: it was answered. */
  error: Unavailable | null
}

/** How a connection stands that is not well. */
export interface Trouble {
  port: PortName
  provider: string
  state: 'degraded' | 'lost'
  since: Date
  code: string
  message: string
  remedy: string
}

/** Answers how the connection stands since; null: well, or nothing is known of it. */
export type Hears = (outcome: Outcome) => Promise<Trouble | null>

/** Told of each call that asks a provider. */
export type Times = (port: PortName, provider: string, outcome: 'answered' | 'silent', ms: number) => void

/** Who asks to slow down answers, and takes our access. */
const isSilence = (error: unknown): error is Unavailable =>
  error instanceof Unavailable && !(error.cause instanceof Throttled)

const findingMethods: readonly string[] = ['check', 'findings']

/** What a provider finds of itself may be of other things than access, or made without a call. */
const isFindings = (method: string, answer: unknown): answer is Finding[] =>
  findingMethods.includes(method) && Array.isArray(answer)

const ownPorts: Readonly<Record<OwnPort, PortFacts>> = {
  mail: {
    account: 'server',
    // There is nothing else to ask.
    provesAccess: (method, answer) =>
      isFindings(method, answer) ? answer.every(({ isFine }) => isFine) : null,
  },
  storage: { account: 'server', local: ['signUpload', 'signDownload'] },
}

function provesAccess(facts: PortFacts, method: string, answer: unknown): boolean {
  if (facts.local?.includes(method)) return false
  return facts.provesAccess?.(method, answer) ?? !isFindings(method, answer)
}

/** `isServers`: whoever runs the server has the account. */
export type KnownTrouble = Trouble & { isServers: boolean }

const troubles = new WeakMap<object, KnownTrouble>()
const targets = new WeakMap<object, object>()

/** How the connection stood that a call failed on; null: it was well until then, or is none that is kept. */
export const troubleOf = (error: unknown): KnownTrouble | null =>
  error instanceof Error ? (troubles.get(error) ?? troubleOf(error.cause)) : null

/** The adapter itself: what is asked of it is heard by nobody. */
export const unheard = <T extends object>(adapter: T): T => (targets.get(adapter) as T | undefined) ?? adapter

/** The same way out, for the mail of a store. */
export function mailOfStore(mail: MailPort, storeId: string): MailPort {
  const own: MailPort = { check: () => mail.check(), send: (each) => mail.send({ ...each, storeId }) }
  targets.set(own, unheard(mail))
  return own
}

/** Writing it down waits for a database that the caller may hold in a transaction: not for ever. */
const heardWithinMs = 1_000

/** The same adapters, whose calls are heard. `names`: of the server's own providers. */
export function heardAdapters(
  adapters: Adapters,
  ports: Wired['ports'],
  names: Readonly<Record<OwnPort, string>>,
  clock: Clock,
  hears: Hears,
  times: Times = () => {},
): { adapters: Adapters; watch(troubled: readonly { port: PortName; provider: string }[]): void } {
  /** Of the server's own providers, those that something is wrong with. */
  const watched = new Set<string>()

  const isWatched = ({ port, provider, store }: Outcome): boolean =>
    store ? (store.connection?.isTroubled ?? false) : watched.has(`${port}:${provider}`)

  async function tell(outcome: Outcome): Promise<Trouble | null> {
    const { store, port, provider, error } = outcome
    const key = `${port}:${provider}`
    // Before it is written down: the very next call over it may be the one that succeeds.
    if (store?.connection) store.connection.isTroubled = error !== null
    if (!store) watched[error ? 'add' : 'delete'](key)
    const { promise: late, resolve } = Promise.withResolvers<null>()
    const timer = setTimeout(resolve, heardWithinMs, null)
    try {
      return await Promise.race([hears(outcome), late])
    } finally {
      clearTimeout(timer)
    }
  }

  const heard = <T extends object>(port: PortName, facts: PortFacts, provider: string, target: T): T => {
    const isServers = facts.account === 'server'
    const proxy = new Proxy(target, {
      get(_target, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function' || typeof name !== 'string') return value
        return (...args: unknown[]): unknown => {
          const store = isServers ? null : ((args[0] as ProviderStore | undefined) ?? null)
          const of = (error: Unavailable | null): Outcome => ({ port, provider, store, startedAt, error })
          const startedAt = clock.now()
          const isKept = isServers || store?.connection !== undefined
          const failed = async (error: unknown): Promise<never> => {
            if (isKept && isSilence(error)) {
              const trouble = await tell(of(error))
              if (trouble) troubles.set(error, { ...trouble, isServers })
            }
            throw error
          }
          const answered = (answer: unknown): unknown => {
            if (!isKept || !isWatched(of(null)) || !provesAccess(facts, name, answer)) return answer
            return tell(of(null)).then(() => answer)
          }
          const begun = performance.now()
          const timed = (outcome: 'answered' | 'silent'): void => {
            if (!facts.local?.includes(name)) times(port, provider, outcome, performance.now() - begun)
          }
          const answer: unknown = Reflect.apply(value, target, args)
          if (!(answer instanceof Promise)) return answer
          return answer.then(
            (value) => {
              timed('answered')
              return answered(value)
            },
            (error) => {
              timed(isSilence(error) ? 'silent' : 'answered')
              return failed(error)
            },
          )
        }
      },
    })
    targets.set(proxy, target)
    return proxy
  }

  const ofSections = Object.entries(ports).map(([name, facts]) => {
    const port = name as keyof SectionPorts
    const byProvider = Object.entries<object>(adapters[port])
    const each = byProvider.map(([provider, adapter]) => [provider, heard(port, facts, provider, adapter)])
    return [port, Object.fromEntries(each)]
  })
  const all: Adapters = {
    ...adapters,
    ...(Object.fromEntries(ofSections) as SectionAdapters),
    mail: heard('mail', ownPorts.mail, names.mail, adapters.mail),
    storage: heard('storage', ownPorts.storage, names.storage, adapters.storage),
  }
  return {
    adapters: all,
    watch(troubled) {
      for (const { port, provider } of troubled) watched.add(`${port}:${provider}`)
    },
  }
}
