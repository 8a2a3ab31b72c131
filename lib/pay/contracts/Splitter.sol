// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title Divides received tokens between a provider and the network's treasury.
///
/// @notice The treasury is owed its share, rounded down, of the total ever received of a token. The provider is owed the
/// rest. The number and order of payouts change neither amount. Anybody may pay out. There is no owner, no upgrade and no
/// other exit.
///
/// @dev The code that clones of `SplitterFactory` run. A clone's own code contains the payees as immutable arguments: 20
/// bytes provider, 20 bytes treasury, 2 bytes share of the treasury in basis points.
///
/// The books are per token, so a token that misreports balances or calls back harms only itself. Tokens that take a fee on
/// transfers, or change balances by themselves, are divided without any guarantee.
contract Splitter is ReentrancyGuardTransient {
    using SafeCast for uint256;
    using SafeERC20 for IERC20;

    /// @dev One slot: no real token has a supply near 2^128 atoms.
    struct Paid {
        uint128 provider;
        uint128 treasury;
    }

    uint256 private constant ONE = 10_000;
    /// @dev The template has no payees: at the place of the arguments it would read its own code.
    address private immutable TEMPLATE = address(this);

    /// @notice The amounts paid to each side so far.
    mapping(IERC20 token => Paid) public paid;

    event Released(IERC20 indexed token, address indexed payee, uint256 amount);
    /// @notice The token refused this payee. The amount stays owed; the other side is still paid.
    event Withheld(IERC20 indexed token, address indexed payee, uint256 amount);

    error NotAClone();
    error NothingOwed();

    /// @notice Pays both sides the amounts owed. A side that the token refuses does not block the other.
    function distribute(IERC20 token) external nonReentrant returns (uint256 toProvider, uint256 toTreasury) {
        (address provider, address treasury,) = payees();
        (toProvider, toTreasury) = owed(token);
        Paid storage book = paid[token];
        if (toTreasury != 0) {
            book.treasury += toTreasury.toUint128();
            if (!_pays(token, treasury, toTreasury)) {
                book.treasury -= toTreasury.toUint128();
                toTreasury = 0;
            }
        }
        if (toProvider != 0) {
            book.provider += toProvider.toUint128();
            if (!_pays(token, provider, toProvider)) {
                book.provider -= toProvider.toUint128();
                toProvider = 0;
            }
        }
    }

    /// @notice Pays only the provider; reverts if the token refuses.
    function releaseProvider(IERC20 token) external nonReentrant returns (uint256 amount) {
        (amount,) = owed(token);
        if (amount == 0) revert NothingOwed();
        (address provider,,) = payees();
        paid[token].provider += amount.toUint128();
        emit Released(token, provider, amount);
        token.safeTransfer(provider, amount);
    }

    /// @notice Pays only the treasury; reverts if the token refuses.
    function releaseTreasury(IERC20 token) external nonReentrant returns (uint256 amount) {
        (, amount) = owed(token);
        if (amount == 0) revert NothingOwed();
        (, address treasury,) = payees();
        paid[token].treasury += amount.toUint128();
        emit Released(token, treasury, amount);
        token.safeTransfer(treasury, amount);
    }

    /// @notice The payees, and the treasury's share in basis points.
    function payees() public view returns (address provider, address treasury, uint16 bps) {
        if (address(this) == TEMPLATE) revert NotAClone();
        bytes memory args = Clones.fetchCloneArgs(address(this));
        assembly ("memory-safe") {
            provider := shr(96, mload(add(args, 0x20)))
            treasury := shr(96, mload(add(args, 0x34)))
            bps := shr(240, mload(add(args, 0x48)))
        }
    }

    /// @notice The total that this splitter ever received of a token.
    function received(IERC20 token) public view returns (uint256) {
        Paid storage book = paid[token];
        return token.balanceOf(address(this)) + book.provider + book.treasury;
    }

    /// @notice The amounts owed to each side now. Their sum is the whole balance.
    function owed(IERC20 token) public view returns (uint256 toProvider, uint256 toTreasury) {
        (,, uint16 bps) = payees();
        uint256 total = received(token);
        // floor(total * bps / ONE) without overflow.
        uint256 share = total / ONE * bps + total % ONE * bps / ONE;
        Paid storage book = paid[token];
        toTreasury = _above(share, book.treasury);
        toProvider = _above(total - share, book.provider);
    }

    /// @dev If a token's balances shrink by themselves, payouts may exceed the amount due. Then nothing is owed.
    function _above(uint256 due, uint256 done) private pure returns (uint256) {
        return due > done ? due - done : 0;
    }

    function _pays(IERC20 token, address payee, uint256 amount) private returns (bool done) {
        done = token.trySafeTransfer(payee, amount);
        if (done) emit Released(token, payee, amount);
        else emit Withheld(token, payee, amount);
    }
}
