import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import type { Precondition, ProviderStore } from '#runtime/ports/provider'

export interface MailingListPerson {
  email: string
  name: string | null
  /** The phone in E.164. */
  phone: string | null
  tags?: string[]
  /** True if we had removed the person (`unsubscribe`), who has now consented again. */
  isBack?: boolean
}

export interface PushedPerson {
  /** The email as the caller has given it. */
  email: string
  /**
   * `unsubscribed`: the person has unsubscribed at the provider, and stays so. `invalid`: the provider refuses the
   * address.
   */
  status: 'added' | 'updated' | 'unsubscribed' | 'invalid'
}

/** Maximum number of people in one call. */
export const maxPeoplePerCall = 500

/**
 * Port to the lists of an email-marketing provider. Every method may throw `Refused` (also with code `no-such-list`),
 * `Throttled` or `Unavailable` of `runtime/ports/errors.ts`.
 */
export interface MailingListPort {
  /** The lists of the account. */
  lists(store: ProviderStore): Promise<{ id: string; name: string }[]>
  /**
   * Adds or updates at most `maxPeoplePerCall` people by email and returns their statuses in the given order.
   * Idempotent. People who unsubscribed at the provider are never resubscribed.
   */
  upsertSubscribers(
    store: ProviderStore,
    listId: string,
    people: readonly MailingListPerson[],
  ): Promise<PushedPerson[]>
  /**
   * Removes at most `maxPeoplePerCall` people who unsubscribed here. Returns the emails that were on the list. Idempotent.
   */
  unsubscribe(store: ProviderStore, listId: string, emails: readonly string[]): Promise<string[]>
  /**
   * Pages of the emails that have unsubscribed at the provider since an instant. May include earlier ones, and emails
   * removed by `unsubscribe`.
   */
  unsubscribedSince(store: ProviderStore, listId: string, since: Date): AsyncIterable<string[]>
  /** Checks the account, and its list if one was chosen. Changes nothing. */
  check(store: ProviderStore, listId?: string | null): Promise<Precondition[]>
}

/** Checks common to all providers: that the API key is valid, that a list was chosen, and that this list exists. */
export async function checkLists(
  port: Pick<MailingListPort, 'lists'>,
  store: ProviderStore,
  listId: string | null | undefined,
): Promise<Precondition[]> {
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
  const account: Precondition = {
    code: 'account',
    isFine: true,
    message: 'The email provider takes the API key',
  }
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
