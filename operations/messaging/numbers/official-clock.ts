/** Where an official number stands at an instant, by its row and the clock alone. */
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
  /** Of the last setup. */
  started_at: Date | null
  expires_at: Date | null
  ended_at: Date | null
}

export interface OfficialNow {
  status: OfficialStatus
  issue: OfficialIssue | null
  setup: { startedAt: Date; expiresAt: Date } | null
}

/** While a setup's link is open, that is what counts; once it ran out, the status is the one before. */
export function officialAt(row: OfficialRow, now: Date): OfficialNow {
  const { started_at: startedAt, expires_at: expiresAt } = row
  const status = row.status as OfficialStatus
  const issue = row.issue_code as OfficialIssue | null
  // A number that is well needs no setup, whatever became of one.
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

/** A code with its plain sentence. */
export const describeIssue = (code: OfficialIssue): { code: OfficialIssue; message: string } => ({
  code,
  message: issueTexts[code],
})
