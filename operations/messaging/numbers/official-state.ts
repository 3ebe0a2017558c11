/** Derives the state of an official number at a given time from its row alone. */
export const officialStatuses = ['none', 'setup-pending', 'verifying', 'connected', 'error'] as const
type OfficialStatus = (typeof officialStatuses)[number]

export const officialIssues = [
  'setup-denied',
  'setup-expired',
  'token-expired',
  'number-removed',
  'account-restricted',
  'payment-issue',
  'display-name-declined',
] as const
export type OfficialIssue = (typeof officialIssues)[number]

export interface OfficialRow {
  status: string
  issue_code: string | null
  /** Start of the last setup. */
  started_at: Date | null
  expires_at: Date | null
  ended_at: Date | null
}

export interface OfficialState {
  status: OfficialStatus
  issue: OfficialIssue | null
  setup: { startedAt: Date; expiresAt: Date } | null
}

/** While a setup link is open, the status is `setup-pending`; after it expires, the previous status applies. */
export function getOfficialState(row: OfficialRow, now: Date): OfficialState {
  const { started_at: startedAt, expires_at: expiresAt } = row
  const status = row.status as OfficialStatus
  const issue = row.issue_code as OfficialIssue | null
  // A connected number needs no setup, so the result of the last setup does not matter.
  if (status === 'connected' || !startedAt || !expiresAt || row.ended_at)
    return { status, issue, setup: null }
  if (now < expiresAt) return { status: 'setup-pending', issue, setup: { startedAt, expiresAt } }
  return { status, issue: 'setup-expired', setup: null }
}

const issueTexts: Readonly<Record<OfficialIssue, string>> = {
  'setup-denied': 'The setup was cancelled at the provider: start it again to connect the number',
  'setup-expired': 'The setup link ran out after 60 minutes: start the setup again',
  'token-expired':
    'The provider does not accept our access any more: disconnect and connect the number again',
  'number-removed': 'The number is not in the provider account any more, or belongs to another store',
  'account-restricted': 'The provider restricted the account: look into the account at the provider',
  'payment-issue': 'The account at the provider lacks a way to pay: add one there',
  'display-name-declined': 'The provider declined the display name: choose another one there',
}

/** An issue code with its text. */
export const describeIssue = (code: OfficialIssue): { code: OfficialIssue; message: string } => ({
  code,
  message: issueTexts[code],
})
