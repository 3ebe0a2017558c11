export type ReviewTables = Record<never, never>

export const reviewTables: Record<keyof ReviewTables, 'store_id'> = {}
