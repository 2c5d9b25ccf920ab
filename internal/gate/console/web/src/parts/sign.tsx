// sign is the picture of a service. Services carry none, so that it is found by what they are called; the others have their first letter.
import { Building2, KeyRound, Laptop, LifeBuoy, ShieldCheck, ShoppingCart, Users, Wallet, Wrench, type LucideIcon } from 'lucide-react';

const signs: [RegExp, LucideIcon][] = [
  [/secur|sicherheit|datenschutz|privacy|legal|\brecht/i, ShieldCheck], [/\b(it|edv)\b|computer|hardware|laptop|device|gerät|softw/i, Laptop], [/access|zugang|zugriff|passwor|identit|konto\b|konten/i, KeyRound],
  [/human|people|\bhr\b|personal|onboard|mitarbeit/i, Users], [/financ|finanz|buchhalt|billing|invoice|rechnung|expens|spesen|payroll|gehalt/i, Wallet],
  [/office|büro|facilit|build|gebäude|room|raum|desk|workplace|arbeitsplatz/i, Building2], [/purchas|procure|einkauf|beschaff/i, ShoppingCart],
  [/repair|reparat|mainten|wartung|instandh/i, Wrench], [/support|help|hilfe/i, LifeBuoy],
];

// Sign says nothing that the name beside it does not say.
export function Sign({ name, category = '' }: { name: string; category?: string | undefined }) {
  const Icon = (signs.find(([of]) => of.test(name)) ?? signs.find(([of]) => of.test(category)))?.[1];
  const tint = [...name].reduce((sum, c) => sum + (c.codePointAt(0) ?? 0), 0) % 4;
  return <span className={`sign tint${tint}`} aria-hidden>{Icon ? <Icon size={20} /> : [...name.trim()][0]?.toUpperCase()}</span>; // not said
}
