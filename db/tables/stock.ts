export type StockTables = Record<never, never>

export const stockTables: Record<keyof StockTables, 'store_id'> = {}
