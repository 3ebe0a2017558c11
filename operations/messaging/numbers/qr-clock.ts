/** Where a QR session stands at an instant, by its row and the clock alone (rule 2). */
import { codeAfter, qrSessionMs } from '../provider/qr-times.ts'

export const qrStatuses = [
  'none',
  'awaiting-scan',
  'connecting',
  'connected',
  'reconnecting',
  'expired',
  'disconnected',
] as const
type QrStatus = (typeof qrStatuses)[number]

export const endReasons = ['merchant', 'expired', 'logged-out', 'number-in-use', 'replaced'] as const
export type EndReason = (typeof endReasons)[number]

export interface SessionRow {
  status: string
  session_started_at: Date | null
  session_ended_at: Date | null
  end_reason: string | null
}

export interface SessionNow {
  status: QrStatus
  endedAt: Date | null
  endReason: EndReason | null
  /** While a code lives: which of the six, until when. */
  code: { sequence: number; expiresAt: Date } | null
}

/** Also right when the job that writes the end is late. */
export function sessionAt(row: SessionRow, now: Date): SessionNow {
  const { status, session_started_at: startedAt } = row
  if (status !== 'awaiting-scan' || startedAt === null) {
    const endReason = row.end_reason as EndReason | null
    return { status: status as QrStatus, endedAt: row.session_ended_at, endReason, code: null }
  }
  const code = codeAfter(Math.max(0, now.getTime() - startedAt.getTime()))
  if (!code) return { status: 'expired', endedAt: sessionEnd(startedAt), endReason: 'expired', code: null }
  const expiresAt = new Date(startedAt.getTime() + code.endsAfterMs)
  return { status, endedAt: null, endReason: null, code: { sequence: code.sequence, expiresAt } }
}

/** When the last code of a session that nobody scans runs out. */
export const sessionEnd = (startedAt: Date): Date => new Date(startedAt.getTime() + qrSessionMs)

/** Those in which there is something to disconnect. */
export const isLive = (status: string): boolean =>
  ['awaiting-scan', 'connecting', 'connected', 'reconnecting'].includes(status)
