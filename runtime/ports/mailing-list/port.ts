import type { ProviderStore } from '../provider.ts'

export interface MailingListPerson {
  email: string
  name: string | null
  /** E.164. */
  phone: string | null
  tags?: string[]
}

export interface PushedPerson {
  /** As it was given. */
  email: string
  /** `unsubscribed`: they left at the provider, and stay out; `invalid`: the provider does not take the address. */
  status: 'added' | 'updated' | 'unsubscribed' | 'invalid'
}

/** People of one call, at most. */
export const peopleAtOnce = 500

/**
 * Lists of an email-marketing provider. Every method throws `Refused` (`no-such-list` among them), `Throttled` or
 * `Unavailable` of `runtime/ports/errors.ts`.
 */
export interface MailingListPort {
  /** The lists of the account. */
  lists(store: ProviderStore): Promise<{ id: string; name: string }[]>
  /**
   * Adds or updates people by their email, at most `peopleAtOnce`; answers each in the order given. Twice does no
   * harm. Who left at the provider is never subscribed again.
   */
  upsertSubscribers(
    store: ProviderStore,
    listId: string,
    people: readonly MailingListPerson[],
  ): Promise<PushedPerson[]>
}
