/** What became of a call, written down where it is news (rule 19). Called by who hands out the adapters, and by nobody who calls them. */
import { sql } from 'kysely'
import { notify } from '#operations/notifications/door'
import type { Context, SystemContext } from '#runtime/context'
import { AccessLost } from '#runtime/ports/errors'
import type { Outcome, Trouble } from '#runtime/ports/heard'
import type { PortName } from '#runtime/ports/ports'
import { connectionProbe, providerProbe } from '../handles.ts'
import type { ConnectedPort, ServerPort } from './kinds.ts'
import { after, type Heard, type Standing, type Step } from './machine.ts'
import { columnsOf, standingOf, troubleIn } from './rows.ts'

/** Which connection it is about, as the caller knew it. */
export interface About {
  port: ConnectedPort
  part: string
  provider: string
  connectedAt: Date | null
}

/** Answers how the connection stands since; null: well, or it is another by now. */
export async function hear(system: SystemContext, outcome: Outcome): Promise<Trouble | null> {
  const { port, provider, store } = outcome
  const heard = heardIn(outcome)
  if (port === 'billing' || port === 'mail' || port === 'storage') {
    return hearServers(system, port, provider, heard)
  }
  const ref = store?.connection
  const ctx = ref ? await system.forStore(store!.id) : null
  if (!ref || !ctx) return null
  const { part, connectedAt } = ref
  return ctx.transaction((tx) => moveConnection(tx, { port, part, provider, connectedAt }, heard))
}

const unanswered = 'no-answer'

function heardIn({ error, startedAt, provider }: Outcome): Heard {
  if (!error) return { is: 'answered', startedAt }
  if (error instanceof AccessLost) {
    const { code, message, remedy } = error
    return { is: 'lost', code, message, remedy }
  }
  const remedy = 'Nothing has to be done: it is asked again by itself, and what waits for it goes on then'
  return { is: 'unanswered', code: unanswered, message: `${provider} does not answer`, remedy }
}

/** Moves a connection of the store by what was heard, in the caller's transaction. */
export async function moveConnection(tx: Context, about: About, heard: Heard): Promise<Trouble | null> {
  const { port, part, provider, connectedAt } = about
  const kind = tx.wired.connectionKinds[port]
  if (!kind) throw new Error(`No section has connections of the port ${port}`)
  const now = tx.now()
  const isBad = heard.is === 'lost' || heard.is === 'unanswered'
  if (isBad) {
    const current = await kind.current(tx, part)
    if (current === undefined || current?.getTime() !== connectedAt?.getTime()) return null
    // Of two who hear of the first failure at once, both count.
    await tx.db
      .insertInto('connection_health')
      .values({
        ...{ port, part, provider, connected_at: connectedAt, state: 'connected', since: now },
        ...{ troubled_at: now, checked_at: now, updated_at: now },
      })
      .onConflict((conflict) => conflict.columns(['store_id', 'port', 'part']).doNothing())
      .execute()
  }
  const row = await tx.db
    .selectFrom('connection_health')
    .selectAll()
    .where('port', '=', port)
    .where('part', '=', part)
    .forUpdate()
    .executeTakeFirst()
  if (!row) return null
  const isSame = row.connected_at?.getTime() === connectedAt?.getTime()
  // A call over a connection before: it says nothing of this one.
  if (!isSame && !isBad && heard.is !== 'connected') return null
  const before = isSame || heard.is === 'connected' ? standingOf(row) : null
  const step = after(before, heard, now, jitterOf(tx.store.id))
  if (!step && isSame) return troubleIn(before, port, provider)
  const next = step?.next ?? standingOf(row)
  await tx.db
    .updateTable('connection_health')
    .set({ ...columnsOf(next, now), provider, connected_at: connectedAt })
    .where('port', '=', port)
    .where('part', '=', part)
    .execute()
  if (step) await follow(tx, about, before, step)
  return troubleIn(next, port, provider)
}

async function follow(tx: Context, about: About, before: Standing | null, step: Step): Promise<void> {
  const { port, part } = about
  const { next, tells } = step
  const kind = tx.wired.connectionKinds[port]!
  if (next.nextProbeAt && next.nextProbeAt.getTime() !== before?.nextProbeAt?.getTime()) {
    await tx.queue(connectionProbe, { port, part }, { at: next.nextProbeAt })
  }
  if (tells && !kind.tellsItself?.includes(part)) await tell(tx, about, tells, before, next)
  const was = before?.state ?? 'connected'
  if (was === next.state) return
  const { state, code, since } = next
  tx.log.warn({ port, part, provider: about.provider, state, code, since }, 'a connection moved')
  await kind.moved?.(tx, { part, before: was, after: state })
  if (state === 'connected') await tx.afterCommit(() => tx.services.queue.bringForward(tx.store.id))
}

async function tell(
  tx: Context,
  { port, part, provider }: About,
  tells: 'lost' | 'back',
  before: Standing | null,
  { since, code, message, remedy }: Standing,
): Promise<void> {
  const name = `${tx.wired.connectionKinds[port]!.name(part)} (${provider})`
  const key = `${port}:${part}:${(tells === 'lost' ? since : (before?.since ?? since)).toISOString()}`
  await notify(
    tx,
    tells === 'lost'
      ? {
          type: 'connection-lost',
          level: 'error',
          title: `The connection to ${name} is lost`,
          message: `${sentence(message)} ${sentence(remedy)} What waits for it goes on by itself once it works again.`,
          data: { port, provider, code },
          dedupeKey: `connection-lost:${key}`,
        }
      : {
          type: 'connection-back',
          level: 'success',
          title: `The connection to ${name} works again`,
          message: 'What waited for it goes on.',
          data: { port, provider },
          dedupeKey: `connection-back:${key}`,
        },
  )
}

const sentence = (text: string | null): string => (text ? text.replace(/\.?$/, '.') : '')

/** Stores whose platform was down for all are not asked again at one instant. */
const jitterOf = (id: string): number => 0.9 + (Number.parseInt(id.slice(-4), 16) / 0xffff) * 0.2

/** The same of a provider of the server's own: whoever runs it reads it in the log, and by `npm run store -- check`. */
async function hearServers(
  system: SystemContext,
  port: ServerPort,
  provider: string,
  heard: Heard,
): Promise<Trouble | null> {
  return system.root.transaction().execute(async (transaction) => {
    const now = system.now()
    const isBad = heard.is === 'lost' || heard.is === 'unanswered'
    if (isBad) {
      await transaction
        .insertInto('provider_health')
        .values({
          ...{ port, provider, state: 'connected', since: now },
          ...{ troubled_at: now, checked_at: now, updated_at: now },
        })
        .onConflict((conflict) => conflict.columns(['port', 'provider']).doNothing())
        .execute()
    }
    const row = await transaction
      .selectFrom('provider_health')
      .selectAll()
      .where('port', '=', port)
      .where('provider', '=', provider)
      .forUpdate()
      .executeTakeFirst()
    if (!row) return null
    const before = standingOf(row)
    const step = after(before, heard, now)
    if (!step) return troubleIn(before, port, provider)
    const { next } = step
    await transaction
      .updateTable('provider_health')
      .set(columnsOf(next, now))
      .where('port', '=', port)
      .where('provider', '=', provider)
      .execute()
    if (next.nextProbeAt && next.nextProbeAt.getTime() !== before.nextProbeAt?.getTime()) {
      await system.queue(providerProbe, { port, provider }, { at: next.nextProbeAt, transaction })
    }
    if (before.state !== next.state) {
      const { state, code, message, remedy } = next
      const level = state === 'lost' ? 'error' : 'warn'
      system.log[level]({ port, provider, state, code, message, remedy }, "a provider of the server's moved")
      if (state === 'connected') await system.services.queue.bringForward(null, transaction)
    }
    return troubleIn(next, port, provider)
  })
}

/** The same of a provider of the server's own that was probed and said nothing new. */
export const probedServers = (system: SystemContext, port: ServerPort, provider: string) =>
  hearServers(system, port, provider, { is: 'probed' })

/** Providers of the server's own that something is wrong with, as any process saw it: an answer of theirs is news. */
export async function troubledProviders(
  system: SystemContext,
): Promise<{ port: PortName; provider: string }[]> {
  const rows = await system.root
    .selectFrom('provider_health')
    .select(['port', 'provider'])
    .where(sql<boolean>`(state <> 'connected' or failed_at <> '[]')`)
    .execute()
  return rows as { port: PortName; provider: string }[]
}
