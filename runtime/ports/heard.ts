/**
 * The one place where it is heard what becomes of calls: every adapter that a section holds comes through here, so that
 * nobody has to remember to tell. A call that succeeds where nothing was wrong costs nothing.
 */
import type { Clock } from '../clock.ts'
import type { Adapters } from './adapters.ts'
import { Throttled, Unavailable } from './errors.ts'
import type { MailPort } from './mail/port.ts'
import type { Finding, ProviderStore } from './provider.ts'

export const portNames = ['ecommerce', 'messaging', 'mailingList', 'billing', 'mail', 'storage'] as const
export type PortName = (typeof portNames)[number]
/** Of the server: whoever runs it has the account. */
export const serverPorts = ['billing', 'mail', 'storage'] as const satisfies PortName[]

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

/** Methods that need not ask the provider: that they succeed says nothing. */
const asksNobody: Readonly<Record<PortName, readonly string[]>> = {
  ecommerce: ['discountCapabilities', 'activationLink'],
  messaging: ['startOfficialSetup', 'sendLimits', 'joinShared', 'leaveShared', 'history'],
  mailingList: [],
  billing: ['findCoupon', 'parseWebhook'],
  mail: [],
  storage: ['signUpload', 'signDownload'],
}

/** Who asks to slow down answers, and takes our access. */
const isSilence = (error: unknown): error is Unavailable =>
  error instanceof Unavailable && !(error.cause instanceof Throttled)

const findingMethods: readonly string[] = ['check', 'findings']

/** Whether an answer shows that the provider still takes our access. */
function provesAccess(port: PortName, method: string, answer: unknown): boolean {
  if (asksNobody[port].includes(method)) return false
  if (port === 'messaging' && method === 'officialState') {
    return (answer as { status?: unknown } | undefined)?.status !== 'error'
  }
  // Findings may be of other things than access, or made without a call. Of mail there is nothing else to ask.
  if (findingMethods.includes(method) && Array.isArray(answer)) {
    return port === 'mail' && answer.every(({ isFine }: Finding) => isFine)
  }
  return true
}

const troubles = new WeakMap<object, Trouble>()
const targets = new WeakMap<object, object>()

/** How the connection stood that a call failed on; null: it was well until then, or is none that is kept. */
export const troubleOf = (error: unknown): Trouble | null =>
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
  names: Readonly<Record<'mail' | 'storage', string>>,
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

  const heard = <T extends object>(port: PortName, provider: string, target: T): T => {
    const isServers = (serverPorts as readonly string[]).includes(port)
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
              if (trouble) troubles.set(error, trouble)
            }
            throw error
          }
          const answered = (answer: unknown): unknown => {
            if (!isKept || !isWatched(of(null)) || !provesAccess(port, name, answer)) return answer
            return tell(of(null)).then(() => answer)
          }
          const begun = performance.now()
          const timed = (outcome: 'answered' | 'silent'): void => {
            if (!asksNobody[port].includes(name)) times(port, provider, outcome, performance.now() - begun)
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

  const each = <T extends object>(port: PortName, byName: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(byName).map(([name, adapter]) => [name, heard(port, name, adapter)]))

  const all = {
    ...adapters,
    ecommerce: each('ecommerce', adapters.ecommerce),
    messaging: each('messaging', adapters.messaging),
    mailingList: each('mailingList', adapters.mailingList),
    billing: each('billing', adapters.billing),
    mail: heard('mail', names.mail, adapters.mail),
    storage: heard('storage', names.storage, adapters.storage),
  }
  return {
    adapters: all,
    watch(troubled) {
      for (const { port, provider } of troubled) watched.add(`${port}:${provider}`)
    },
  }
}
