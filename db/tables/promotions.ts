export type PromotionTables = Record<never, never>

export const promotionTables: Record<keyof PromotionTables, 'store_id'> = {}
