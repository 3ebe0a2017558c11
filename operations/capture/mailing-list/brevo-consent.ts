/** Brevo's consent groups, which an account may have: a person is subscribed to a group, or unsubscribed from it. */
import type { Precondition, ProviderStore } from '#runtime/ports/provider'

export interface ConsentGroup {
  id: number
  name: string
}

/** The code of the 403 for an account without consent groups. */
export const noConsentGroups = 'CONSENT_GROUP_NOT_ENABLED'

/** The consent group in the store's credentials, as a number or digits; null without one. */
export function readConsentGroup(store: ProviderStore): number | null {
  const { consentGroupId: given } = (store.credentials ?? {}) as { consentGroupId?: unknown }
  return /^\d{1,15}$/.test(String(given ?? '')) ? Number(given) : null
}

export function checkConsent(chosen: number | null, groups: readonly ConsentGroup[]): Precondition {
  const named = groups.map(({ id, name }) => `${id} (${name})`).join(', ')
  const fault = (message: string, remedy: string) => ({ code: 'consent', isFine: false, message, remedy })
  if (chosen !== null && !groups.some(({ id }) => id === chosen)) {
    return fault(
      `The account has no consent group ${chosen}`,
      named
        ? `Connect again with a consentGroupId of these: ${named}`
        : 'Connect again without consentGroupId',
    )
  }
  if (chosen === null && named) {
    return fault(
      'The account has consent groups, and none is chosen: only people who left all groups count as unsubscribed',
      `Connect again with the consentGroupId of your newsletter: ${named}`,
    )
  }
  return {
    code: 'consent',
    isFine: true,
    message:
      chosen === null ? 'The account has no consent groups' : `People join the consent group ${chosen}`,
  }
}
