/**
 * The accepted breaking changes since the last release, in the words that `npm run check` prints, each with a reason.
 * Each must also be in the changelog. The list is emptied at the next release.
 */
const knownCode = 'The provider said it, and it was folded into `provider-error` before'

export const accepted: Readonly<Record<string, string>> = {
  'CampaignMessage.failureCode may be "window-closed" now': knownCode,
  'CampaignMessage.failureCode may be "too-long" now': knownCode,
  'CampaignMessage.failureCode may be "disconnected" now': knownCode,
  'CampaignMessage.failureCode may be "number-limit" now': knownCode,
}
