export type ProductPageTables = Record<never, never>

export const productPageTables: Record<keyof ProductPageTables, 'store_id'> = {}
