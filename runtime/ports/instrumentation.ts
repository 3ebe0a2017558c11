/**
 * Instrumentation of provider calls: wraps every adapter that a section uses, and records the outcomes and durations of
 * its calls. A successful call on a healthy connection writes nothing to the database.
 */
import type { MergedExtensions } from '#runtime/extensions'
import type { Clock } from '../clock.ts'
import type { Adapters, SectionAdapters } from './adapters.ts'
import { Throttled, Unavailable } from './errors.ts'
import type { MailPort } from './mail/port.ts'
import type { OwnPort, PortFacts, PortName, SectionPorts } from './ports.ts'
import type { Precondition, ProviderStore } from './provider.ts'

/** The outcome of one call. */
export interface ProviderOutcome {
  port: PortName
  provider: string
  /** The store whose connection was used; null for the server's own account. */
  store: ProviderStore | null
  startedAt: Date
  /** The failure; null if the provider answered, even with a refusal. */
  error: Unavailable | null
}

/** Describes that a connection is failing. */
export interface ConnectionFailure {
  port: PortName
  provider: string
  state: 'degraded' | 'lost'
  since: Date
  code: string
  message: string
  remedy: string
}

/** Records an outcome; returns the connection's failure afterwards, or null if it is healthy or unknown. */
export type RecordOutcome = (outcome: ProviderOutcome) => Promise<ConnectionFailure | null>

/** Records the duration of a call to a provider. */
export type RecordDuration = (
  port: PortName,
  provider: string,
  outcome: 'answered' | 'silent',
  ms: number,
) => void

/** Whether an error means that the provider is unavailable. If it throttles, it does answer and accepts our access. */
const isUnavailable = (error: unknown): error is Unavailable =>
  error instanceof Unavailable && !(error.cause instanceof Throttled)

const checkMethods: readonly string[] = ['check', 'findings']

/**
 * Whether a result is that of a `check` method. Such a result may concern other things than access, or need no call.
 */
const isCheckResult = (method: string, answer: unknown): answer is Precondition[] =>
  checkMethods.includes(method) && Array.isArray(answer)

const ownPorts: Readonly<Record<OwnPort, PortFacts>> = {
  mail: {
    account: 'server',
    local: ['parseWebhook'],
    // The check logs in to the provider, so it proves access if everything that sending needs is fine.
    provesAccess: (method, answer) =>
      isCheckResult(method, answer)
        ? answer.every(({ isFine, isOptional }) => isFine || isOptional === true)
        : null,
  },
  storage: { account: 'server', local: ['signUpload', 'signDownload'] },
}

function provesAccess(facts: PortFacts, method: string, answer: unknown): boolean {
  if (facts.local?.includes(method)) return false
  return facts.provesAccess?.(method, answer) ?? !isCheckResult(method, answer)
}

/** A failure that was recorded. `isServers`: the account belongs to the server, not to a store. */
export type KnownFailure = ConnectionFailure & { isServers: boolean }

const failures = new WeakMap<object, KnownFailure>()
const targets = new WeakMap<object, object>()

/**
 * Returns the failure of the connection that a failed call used; null if its health is not tracked or not recorded yet.
 */
export const findConnectionFailure = (error: unknown): KnownFailure | null =>
  error instanceof Error ? (failures.get(error) ?? findConnectionFailure(error.cause)) : null

/** Returns the adapter without instrumentation. */
export const unwrapAdapter = <T extends object>(adapter: T): T =>
  (targets.get(adapter) as T | undefined) ?? adapter

/** Returns an adapter that sends mail for a store. */
export function scopeMail(mail: MailPort, storeId: string): MailPort {
  const own: MailPort = { check: () => mail.check(), send: (each) => mail.send({ ...each, storeId }) }
  targets.set(own, unwrapAdapter(mail))
  return own
}

/**
 * The time limit of recording: it could wait for the embedded database while the caller itself has a transaction open.
 */
const recordWithinMs = 1_000

/** Wraps all adapters with instrumentation. `names`: the names of the server's own providers. */
export function instrumentAdapters(
  adapters: Adapters,
  ports: MergedExtensions['ports'],
  names: Readonly<Record<OwnPort, string>>,
  clock: Clock,
  hears: RecordOutcome,
  times: RecordDuration = () => {},
): { adapters: Adapters; watch(troubled: readonly { port: PortName; provider: string }[]): void } {
  /** The server's own providers that are failing. */
  const watched = new Set<string>()

  const isWatched = ({ port, provider, store }: ProviderOutcome): boolean =>
    store ? (store.connection?.isFailing ?? false) : watched.has(`${port}:${provider}`)

  async function record(outcome: ProviderOutcome): Promise<ConnectionFailure | null> {
    const { store, port, provider, error } = outcome
    const key = `${port}:${provider}`
    // Set before it is recorded, so that a success of the very next call counts as a change.
    if (store?.connection) store.connection.isFailing = error !== null
    if (!store) watched[error ? 'add' : 'delete'](key)
    const { promise: late, resolve } = Promise.withResolvers<null>()
    const timer = setTimeout(resolve, recordWithinMs, null)
    try {
      return await Promise.race([hears(outcome), late])
    } finally {
      clearTimeout(timer)
    }
  }

  const instrument = <T extends object>(port: PortName, facts: PortFacts, provider: string, target: T): T => {
    const isServers = facts.account === 'server'
    const proxy = new Proxy(target, {
      get(_target, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function' || typeof name !== 'string') return value
        return (...args: unknown[]): unknown => {
          const store = isServers ? null : ((args[0] as ProviderStore | undefined) ?? null)
          const of = (error: Unavailable | null): ProviderOutcome => ({
            port,
            provider,
            store,
            startedAt,
            error,
          })
          const startedAt = clock.now()
          const isKept = isServers || store?.connection !== undefined
          const failed = async (error: unknown): Promise<never> => {
            if (isKept && isUnavailable(error)) {
              const trouble = await record(of(error))
              if (trouble) failures.set(error, { ...trouble, isServers })
            }
            throw error
          }
          const answered = (answer: unknown): unknown => {
            if (!isKept || !isWatched(of(null)) || !provesAccess(facts, name, answer)) return answer
            return record(of(null)).then(() => answer)
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
              timed(isUnavailable(error) ? 'silent' : 'answered')
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
    const each = byProvider.map(([provider, adapter]) => [
      provider,
      instrument(port, facts, provider, adapter),
    ])
    return [port, Object.fromEntries(each)]
  })
  const all: Adapters = {
    ...adapters,
    ...(Object.fromEntries(ofSections) as SectionAdapters),
    mail: instrument('mail', ownPorts.mail, names.mail, adapters.mail),
    storage: instrument('storage', ownPorts.storage, names.storage, adapters.storage),
  }
  return {
    adapters: all,
    watch(troubled) {
      for (const { port, provider } of troubled) watched.add(`${port}:${provider}`)
    },
  }
}
