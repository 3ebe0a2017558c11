/** The part of the exchange settings that shoppers may see. */
import type { ExchangeContent } from './schema.ts'

export interface PublicSettings {
  types: ExchangeContent['types']
  reasons: PublicReason[]
  conditions: string[]
  returnMethods: { method: ReturnMethod; label: string; instructions: string | null }[]
  refundMethods: ExchangeContent['refundMethods']
  texts: ExchangeContent['texts']
  maxPhotos: number
}
export type PublicReason = Omit<ExchangeContent['reasons'][number], 'isActive'>
type ReturnMethod = ExchangeContent['returnMethods'][number]['method']

/** Keeps only active reasons and enabled methods. */
export function toPublicSettings(settings: ExchangeContent): PublicSettings {
  const { types, reasons, conditions, returnMethods, refundMethods, texts, maxPhotos } = settings
  return {
    types,
    reasons: reasons.filter(({ isActive }) => isActive).map(({ isActive: _isActive, ...reason }) => reason),
    conditions,
    returnMethods: returnMethods
      .filter(({ isEnabled }) => isEnabled)
      .map(({ method, label, instructions }) => ({ method, label, instructions })),
    refundMethods,
    texts,
    maxPhotos,
  }
}
