/** What others give to messaging: who sends and is told, and who uses templates. */
import { messageSources } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { byKey, inOrder, points, single } from '#runtime/wiring'
import type { Subject } from './callbacks/apply.ts'
import type { Mark } from './opt-outs/opt-outs.ts'
import type { AddressBookData, MessageChangeData } from './provider/inbound-hooks.ts'
import type { ConnectionType } from './provider/port.ts'
import type { DeliveryStatus, Departure, InboundMessage, Sender } from './sending/deliver.ts'
import type { TemplateUse } from './templates/uses.ts'

const declared = points({
  /** By the first part of the keys that it sends with. */
  senders: byKey<Sender>(({ source }, { key, all }) => {
    if (!/^[a-z]{2}$/.test(key)) return { wrong: 'is no first part of a key', remedy: 'write two letters' }
    if (!messageSources.includes(source)) {
      const remedy = `one of ${messageSources.join(', ')}`
      return { wrong: `is of the source ${source}, which the ledger does not know`, remedy }
    }
    const [twin] =
      Object.entries(all).find(([other, each]) => other !== key && (each as Sender)?.source === source) ?? []
    return twin ? { wrong: `has the source of ${twin}`, remedy: 'let one of them send it' } : null
  }),
  /** Statuses of every sender's messages, in bulk, after the sender itself. */
  statuses: inOrder<(ctx: Context, statuses: DeliveryStatus[]) => Promise<void>>(),
  /** In the transaction that records messages as sent. */
  departures: inOrder<(ctx: Context, departures: Departure[]) => Promise<void>>(),
  /** In the transaction that applies an inbound message. */
  inbound: inOrder<(ctx: Context, message: InboundMessage) => Promise<void>>(),
  /** In the transaction that applies what the merchant wrote in the provider's own app; `phone`: to whom. */
  echoes: inOrder<(ctx: Context, message: InboundMessage) => Promise<void>>(),
  /** In the same way, a message from before the number was connected, oldest first. */
  earlier:
    inOrder<(ctx: Context, message: InboundMessage, direction: 'inbound' | 'outbound') => Promise<void>>(),
  /** In the transaction that applies it: answers whether the message is there, or is none of theirs. */
  messageChanges: inOrder<(ctx: Context, change: MessageChangeData) => Promise<boolean>>(),
  /** In the transaction that learns it: somebody goes by another address (phone, or the provider's id) from now on. */
  readdressed: inOrder<(ctx: Context, address: { from: string; to: string }) => Promise<void>>(),
  /** How the merchant's own app calls somebody. */
  addressBook: inOrder<(ctx: Context, entry: AddressBookData) => Promise<void>>(),
  /** What events without a store may be about; the first that says so has one. */
  subjects: inOrder<Subject>(),
  /** A part of each statement that changes opt-outs. */
  optOutsChanged: single<Mark>(),
  /** Keeps a template from being deleted, and makes it `inUse`. */
  templateUses: inOrder<TemplateUse>(),
  /** In the transaction that approves a template: what was held for it is due. */
  templateApproved: inOrder<(ctx: Context, templateId: number) => Promise<unknown>>(),
  /** In the transaction in which a connection can send (again): what was held for want of it is due. */
  numberConnected: inOrder<(ctx: Context, type: ConnectionType) => Promise<unknown>>(),
  /** In the transaction that gives the official number up. */
  officialDisconnected: inOrder<(ctx: Context) => Promise<void>>(),
})
export default declared

declare module '#runtime/wiring' {
  interface Points extends DeclaredByMessaging {}
}
type DeclaredByMessaging = typeof declared.declared
