export type PopupTables = Record<never, never>

export const popupTables: Record<keyof PopupTables, 'store_id'> = {}
