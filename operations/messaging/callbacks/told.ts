/** What a provider tells of messages besides new ones: those from before, changes of them, and whom they are from. */
import type { events } from '#operations/store/door'
import type { Context } from '#runtime/context'
import type { AddressBookData, HistoryData, MessageChangeData } from '#runtime/ports/messaging/inbound-hooks'
import { messagesOf } from './apply.ts'
import { notePeople } from './people.ts'

type StoredEvent = events.StoredEvent

/** Messages from before the number was connected, oldest first. */
export async function applyHistory(ctx: Context, stored: StoredEvent[]): Promise<void> {
  const inOrder = [...stored].sort((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime())
  await notePeople(ctx, inOrder)
  const messages = await messagesOf(ctx, inOrder)
  for (const [i, message] of messages.entries()) {
    const { direction } = inOrder[i]!.data as HistoryData
    for (const told of ctx.wired.earlier) await told(ctx, message, direction)
  }
}

/** Answers the changes of messages that are not there (yet). */
export async function applyMessageChanges(ctx: Context, stored: StoredEvent[]): Promise<readonly string[]> {
  const unknown: string[] = []
  for (const { id, data } of stored) {
    let isKnown = false
    for (const told of ctx.wired.messageChanges) {
      isKnown = (await told(ctx, data as MessageChangeData)) || isKnown
    }
    if (!isKnown) unknown.push(id)
  }
  return unknown
}

export async function applyAddressBook(ctx: Context, stored: StoredEvent[]): Promise<void> {
  for (const { data } of stored) {
    for (const told of ctx.wired.addressBook) await told(ctx, data as AddressBookData)
  }
}
