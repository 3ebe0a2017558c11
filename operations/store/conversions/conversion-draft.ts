/** Types of a conversion: as computed before it is written, and as stored. */
import type { ConversionRow } from './attribution.ts'
import type { buildConversion, buildLines } from './conversion-columns.ts'

export type ConversionColumns = ReturnType<typeof buildConversion>
export type Lines = ReturnType<typeof buildLines>

export interface ConversionDraft {
  row: ConversionColumns & { id: string; created_at: Date; updated_at: Date }
  lines: Lines
}

export interface StoredConversion {
  row: ConversionRow
  lines: Lines
  /** Whether the touch was voided because its message failed. */
  isVoid: boolean
}
