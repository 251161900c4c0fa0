/** List faults: what a list shows although it isn't so. */
import type { Answer } from "../http/answers";
import type { ListFault } from "./kinds";
import { like } from "./script";

interface Item {
  id: string;
  name: string;
  status: string;
}

interface List {
  data: Item[];
  has_more: boolean;
}

/** The answer as it stands when it is no list. A changed one breaks the contract on purpose. */
export function distort(answer: Answer, faults: readonly ListFault[], nonce: string): Answer {
  if (faults.length === 0 || !isList(answer.json)) return answer;
  const { form: _, ...rest } = answer;
  return { ...rest, json: faults.reduce((list, fault) => apply(list, fault, nonce), answer.json) };
}

function apply(list: List, fault: ListFault, nonce: string): List {
  if (fault.kind === "hasMoreForever") return { ...list, has_more: true };
  const { instance } = fault;
  const meant = ({ id, name }: Item) =>
    instance === undefined || like(instance, id) || like(instance, name);
  const each = (change: (item: Item) => Item[]) => ({
    ...list,
    data: list.data.flatMap((item) => (meant(item) ? change(item) : [item])),
  });
  switch (fault.kind) {
    case "omitItem":
      return each(() => []);
    case "duplicateIds":
      return each((item) => [item, item]);
    case "changeIds":
      return each((item) => [{ ...item, id: `${item.id}-${nonce}` }]);
    case "showStatus":
      return each((item) => [{ ...item, status: fault.status }]);
  }
}

function isList(json: unknown): json is List {
  return typeof json === "object" && json !== null && "data" in json && Array.isArray(json.data);
}
