/**
 * Accepted breaking changes since the last release, worded as `npm run check` prints them, each with a reason. Each is
 * also a line of the changelog. The next release empties the list.
 */
const knownCode = 'The provider said it, and it was folded into `provider-error` before'

export const accepted: Readonly<Record<string, string>> = {
  'CampaignMessage.failureCode may be "window-closed" now': knownCode,
  'CampaignMessage.failureCode may be "too-long" now': knownCode,
  'CampaignMessage.failureCode may be "disconnected" now': knownCode,
  'CampaignMessage.failureCode may be "number-limit" now': knownCode,
}
