/** Extension points of messaging: senders, message events, uses of templates. */
import { messageSources } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { byKey, extensionPoints, inOrder, single } from '#runtime/extensions'
import type { StoreResolver } from './callbacks/apply.ts'
import type { OptOutUpdate } from './opt-outs/opt-outs.ts'
import type { AddressBookData, MessageChangeData } from './provider/inbound-hooks.ts'
import type { ConnectionType } from './provider/port.ts'
import type { DeliveryStatus, Departure, InboundMessage, Sender } from './sending/deliver.ts'
import type { TemplateUse } from './templates/uses.ts'

const declared = extensionPoints({
  /** Keyed by the prefix of the sender's idempotency keys. */
  senders: byKey<Sender>(({ messageSource }, { key, all }) => {
    if (!/^[a-z]{2}$/.test(key)) return { wrong: 'is no first part of a key', remedy: 'write two letters' }
    if (!messageSources.includes(messageSource)) {
      const remedy = `one of ${messageSources.join(', ')}`
      return { wrong: `is of the source ${messageSource}, which the ledger does not know`, remedy }
    }
    const [twin] =
      Object.entries(all).find(
        ([other, each]) => other !== key && (each as Sender)?.messageSource === messageSource,
      ) ?? []
    return twin ? { wrong: `has the source of ${twin}`, remedy: 'let one of them send it' } : null
  }),
  /** Called in bulk with the status events of all messages, after the senders have applied them. */
  statuses: inOrder<(ctx: Context, statuses: DeliveryStatus[]) => Promise<void>>(),
  /** Runs in the transaction that records messages as sent. */
  departures: inOrder<(ctx: Context, departures: Departure[]) => Promise<void>>(),
  /** Runs in the transaction that applies an inbound message. */
  inbound: inOrder<(ctx: Context, message: InboundMessage) => Promise<void>>(),
  /**
   * Runs in the transaction that applies a message the merchant wrote in the provider's own app. `message.phone` is the
   * recipient.
   */
  echoes: inOrder<(ctx: Context, message: InboundMessage) => Promise<void>>(),
  /** Called for each message from before the number was connected, oldest first. */
  earlier:
    inOrder<(ctx: Context, message: InboundMessage, direction: 'inbound' | 'outbound') => Promise<void>>(),
  /** Runs in the transaction that applies the change. Returns false only if the message may still arrive. */
  messageChanges: inOrder<(ctx: Context, change: MessageChangeData) => Promise<boolean>>(),
  /** Runs in the transaction that learns of a person's new address (phone, or the provider's id). */
  readdressed: inOrder<(ctx: Context, address: { from: string; to: string }) => Promise<void>>(),
  /** Called for each name in the address book of the merchant's own app. */
  addressBook: inOrder<(ctx: Context, entry: AddressBookData) => Promise<void>>(),
  /** Finds the stores of events that were stored without a store. The first matching resolver decides. */
  subjects: inOrder<StoreResolver>(),
  /** A CTE added to each statement that changes opt-outs. */
  optOutsChanged: single<OptOutUpdate>(),
  /** Finds uses of a template. A used template cannot be deleted, and has `inUse` set. */
  templateUses: inOrder<TemplateUse>(),
  /** Runs in the transaction that approves a template, so that sections can make its held messages due. */
  templateApproved: inOrder<(ctx: Context, templateId: number) => Promise<unknown>>(),
  /** Runs in the transaction in which a connection can send (again), so that sections can make held messages due. */
  numberConnected: inOrder<(ctx: Context, type: ConnectionType) => Promise<unknown>>(),
  /** Runs in the transaction that disconnects the official number. */
  officialDisconnected: inOrder<(ctx: Context) => Promise<void>>(),
})
export default declared

declare module '#runtime/extensions' {
  interface ExtensionPoints extends DeclaredByMessaging {}
}
type DeclaredByMessaging = typeof declared.declared
