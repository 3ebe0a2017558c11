import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import type { Finding, ProviderStore } from '#runtime/ports/provider'

export interface MailingListPerson {
  email: string
  name: string | null
  /** E.164. */
  phone: string | null
  tags?: string[]
  /** We had taken them off ourselves (`unsubscribe`), and they have consented anew. */
  isBack?: boolean
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
  /**
   * Takes people off the list who have left here, at most `peopleAtOnce`; answers those who had been on it. Twice does
   * no harm.
   */
  unsubscribe(store: ProviderStore, listId: string, emails: readonly string[]): Promise<string[]>
  /** Who has left there by themselves since, in pages; some may have left before, or by `unsubscribe`. */
  leftSince(store: ProviderStore, listId: string, since: Date): AsyncIterable<string[]>
  /** What the connection needs, of the account and of its list where one was chosen; changes nothing. */
  check(store: ProviderStore, listId?: string | null): Promise<Finding[]>
}

/** The same findings of every provider: its key, its lists, and the list that was chosen. */
export async function checkLists(
  port: Pick<MailingListPort, 'lists'>,
  store: ProviderStore,
  listId: string | null | undefined,
): Promise<Finding[]> {
  let lists: { id: string; name: string }[]
  try {
    lists = await port.lists(store)
  } catch (error) {
    if (!(error instanceof Unavailable || error instanceof Throttled || error instanceof Refused)) throw error
    const isLost = error instanceof AccessLost
    return [
      {
        code: isLost ? error.code : 'account',
        isFine: false,
        message: error.message,
        remedy: isLost ? error.remedy : 'Try again later',
      },
    ]
  }
  const account: Finding = { code: 'account', isFine: true, message: 'The email provider takes the API key' }
  const named = lists.map(({ id, name }) => `${id} (${name})`).join(', ') || 'none'
  const remedy = `Connect again with "listId" in the credentials: ${named}`
  const list = lists.find(({ id }) => id === listId)
  if (list)
    return [account, { code: 'list', isFine: true, message: `Subscribers go to the list ${list.name}` }]
  const message = listId
    ? `The email provider has no list ${listId}`
    : 'No list was chosen: subscribers are pushed only where a list is named'
  return [account, { code: 'list', isFine: false, message, remedy }]
}
