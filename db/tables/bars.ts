export type BarTables = Record<never, never>

export const barTables: Record<keyof BarTables, 'store_id'> = {}
