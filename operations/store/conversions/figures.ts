/** What is worked out of an order and its conversion before either is written. */
import type { ConversionRow } from './attribution.ts'
import type { figuresOf, itemsOf } from './conversion-of.ts'

export type Figures = ReturnType<typeof figuresOf>
export type Lines = ReturnType<typeof itemsOf>

export interface Written {
  row: Figures & { id: string; created_at: Date; updated_at: Date }
  lines: Lines
}

export interface Known {
  row: ConversionRow
  lines: Lines
  /** Its message failed. */
  isVoid: boolean
}
