/** A conversion as stored, and as computed before it is written. */
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
  /** Its message failed. */
  isVoid: boolean
}
