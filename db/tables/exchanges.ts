export type ExchangeTables = Record<never, never>

export const exchangeTables: Record<keyof ExchangeTables, 'store_id'> = {}
