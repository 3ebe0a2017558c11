/** What other sections lend to this one: handed in once at start, from the wiring. */
import type { Context } from '#runtime/context'
import type { ProviderStore } from '#runtime/ports/provider'

/** The address of the page where somebody stops the emails of a subject, in a token that names it. */
type UnsubscribeLink = (ctx: Context, subject: string) => string
let unsubscribeLink: UnsubscribeLink | null = null
export const useUnsubscribeLinks = (link: UnsubscribeLink): void => {
  unsubscribeLink = link
}
/** Null where there is no such page. */
export const unsubscribeLinkOf = (ctx: Context, subject: string): string | null =>
  unsubscribeLink?.(ctx, subject) ?? null

interface Person {
  email: string
  name: string | null
  phone: string | null
  tags?: string[]
}

/** The email provider of a store and the list chosen there. */
export interface MailingList {
  port: {
    upsertSubscribers(store: ProviderStore, listId: string, people: readonly Person[]): Promise<unknown>
  }
  store: ProviderStore
  listId: string | null
}
type FindMailingList = (ctx: Context) => Promise<MailingList | null>
let findMailingList: FindMailingList | null = null
export const useMailingLists = (find: FindMailingList): void => {
  findMailingList = find
}
/** The list that is connected and chosen, or null. */
export async function mailingListOf(ctx: Context): Promise<(MailingList & { listId: string }) | null> {
  const found = (await findMailingList?.(ctx)) ?? null
  return found?.listId ? { ...found, listId: found.listId } : null
}
