/** Reads the current messaging session, without asking the provider. */
import type { Row } from '#db/tables'
import { readEntitlement } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { unseal } from '#runtime/secrets'
import { describeIssue, getOfficialState } from '../numbers/official-state.ts'
import { getSessionState } from '../numbers/qr-state.ts'
import { qrCodes } from '../provider/qr-times.ts'
import type { MessagingSession } from './schema.ts'

type ConnectionRow = Pick<
  Row<'messaging_connections'>,
  | 'status'
  | 'provider'
  | 'phone'
  | 'display_name'
  | 'issue_code'
  | 'connected_at'
  | 'session_codes'
  | 'session_started_at'
  | 'session_ended_at'
  | 'end_reason'
> & { started_at: Date | null; expires_at: Date | null; ended_at: Date | null }

type FoundRow = { [K in keyof ConnectionRow]: ConnectionRow[K] | null } & {
  selected: string | null
  type: string | null
}

const findConnections = prepared<object, FoundRow>((db) =>
  db
    .selectFrom('stores as s')
    .leftJoin('messaging_connections as c', (join) => join.onTrue())
    .leftJoin('messaging_setups as u', 'u.id', 'c.setup_id')
    .select([
      's.messaging_connection_type as selected',
      'c.type',
      'c.status',
      'c.provider',
      'c.phone',
      'c.display_name',
      'c.issue_code',
      'c.connected_at',
      'c.session_codes',
      'c.session_started_at',
      'c.session_ended_at',
      'c.end_reason',
      'u.started_at',
      'u.expires_at',
      'u.ended_at',
    ]),
)

const emptyRow: ConnectionRow = {
  status: 'none',
  provider: '',
  phone: null,
  display_name: null,
  issue_code: null,
  connected_at: null,
  session_codes: null,
  session_started_at: null,
  session_ended_at: null,
  end_reason: null,
  started_at: null,
  expires_at: null,
  ended_at: null,
}

/** Reads the session. Only keys that may start a session see the QR code, because a code can link a phone. */
export async function readSession(ctx: Context): Promise<MessagingSession> {
  const rows = await findConnections(ctx, {})
  const now = ctx.now()
  const of = (type: string): ConnectionRow =>
    (rows.find((row) => row.type === type) as ConnectionRow | undefined) ?? emptyRow
  const type = (rows[0]?.selected ?? null) as MessagingSession['type']
  const parts = {
    qr: toQrPart(ctx, of('qr'), now),
    official: toOfficialPart(of('official'), now),
    shared: { status: of('shared').status as 'none' | 'connected', ...held(of('shared')) },
  }
  const issue = type === null ? null : await findIssue(ctx, type, of(type), now)
  const connected = type !== null && issue === null
  const { phone, displayName, connectedAt } = connected ? parts[type] : nothing
  return { type, connected, phone, displayName, connectedAt, issue, ...parts }
}

const nothing = { phone: null, displayName: null, connectedAt: null }
const text = (at: Date | null): string | null => at?.toISOString() ?? null
const held = (row: ConnectionRow) => ({
  phone: row.phone,
  displayName: row.display_name,
  connectedAt: text(row.connected_at),
})

function toOfficialPart(row: ConnectionRow, now: Date): MessagingSession['official'] {
  return { status: getOfficialState(row, now).status, ...held(row) }
}

function toQrPart(ctx: Context, row: ConnectionRow, now: Date): MessagingSession['qr'] {
  const { status, endedAt, endReason, code } = getSessionState(row, now)
  return {
    status,
    phone: row.phone,
    displayName: row.display_name,
    startedAt: text(row.session_started_at),
    connectedAt: text(row.connected_at),
    endedAt: text(endedAt),
    endReason,
    code: code && row.session_codes && mayStart(ctx) ? readCode(ctx, row, code) : null,
  }
}

/** The encryption context of QR codes: they are encrypted, so that database access alone cannot link a phone. */
export const getCodesContext = (ctx: Context): string => `${ctx.store.id}:qr-codes`

function readCode(
  ctx: Context,
  row: ConnectionRow,
  { sequence, expiresAt }: { sequence: number; expiresAt: Date },
): MessagingSession['qr']['code'] {
  const payloads = unseal(ctx.settings, getCodesContext(ctx), row.session_codes!) as string[]
  const payload = payloads[sequence - 1]!
  return {
    payload,
    sequence,
    expiresAt: expiresAt.toISOString(),
    refreshesLeft: qrCodes - sequence,
    scanUrl:
      row.provider === 'sandbox' && ctx.settings.sandbox
        ? `${ctx.settings.publicUrl}/sandbox/messaging/scan/${payload}`
        : null,
  }
}

function mayStart(ctx: Context): boolean {
  const { access } = ctx.actor
  return access !== null && ctx.services.catalog.mayRun('post_messaging_session', access, ctx.clock.ms())
}

const notConnected = { code: 'not-connected', message: 'The selected number is not connected' } as const

async function findIssue(
  ctx: Context,
  type: 'qr' | 'official' | 'shared',
  row: ConnectionRow,
  now: Date,
): Promise<MessagingSession['issue']> {
  if (type === 'official') return findOfficialIssue(ctx, row, now)
  if (row.status === 'connected') return null
  if (type === 'shared') return notConnected
  if (row.status === 'reconnecting') {
    return { code: 'reconnecting', message: 'The phone lost its link: open the app on it with a connection' }
  }
  if (row.end_reason === 'logged-out') {
    return { code: 'logged-out', message: 'The link was ended on the phone: scan a new code' }
  }
  return notConnected
}

async function findOfficialIssue(
  ctx: Context,
  row: ConnectionRow,
  now: Date,
): Promise<MessagingSession['issue']> {
  const { status, issue } = getOfficialState(row, now)
  if (status !== 'connected') return issue ? describeIssue(issue) : notConnected
  const { features } = await readEntitlement(ctx)
  if (features.has('official-api')) return null
  return {
    ...notConnected,
    message: 'The plan does not include the official number: change the plan to use it',
  }
}
