/** Derives the state of a QR session at a given time from its row alone (rule 2). */
import { findCode, qrSessionMs } from '../provider/qr-times.ts'

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

export interface SessionState {
  status: QrStatus
  endedAt: Date | null
  endReason: EndReason | null
  /** The current code, if any: its number from 1 to 6, and its expiry. */
  code: { sequence: number; expiresAt: Date } | null
}

/** Returns the state at `now`. It is correct even if the job that records the end of the session runs late. */
export function getSessionState(row: SessionRow, now: Date): SessionState {
  const { status, session_started_at: startedAt } = row
  if (status !== 'awaiting-scan' || startedAt === null) {
    const endReason = row.end_reason as EndReason | null
    return { status: status as QrStatus, endedAt: row.session_ended_at, endReason, code: null }
  }
  const code = findCode(Math.max(0, now.getTime() - startedAt.getTime()))
  if (!code) return { status: 'expired', endedAt: getSessionEnd(startedAt), endReason: 'expired', code: null }
  const expiresAt = new Date(startedAt.getTime() + code.endsAfterMs)
  return { status, endedAt: null, endReason: null, code: { sequence: code.sequence, expiresAt } }
}

/** When the last code of an unscanned session expires. */
export const getSessionEnd = (startedAt: Date): Date => new Date(startedAt.getTime() + qrSessionMs)

/** Whether a session with this status can be disconnected. */
export const isLive = (status: string): boolean =>
  ['awaiting-scan', 'connecting', 'connected', 'reconnecting'].includes(status)
