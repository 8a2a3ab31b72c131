// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Multicall} from "@openzeppelin/contracts/utils/Multicall.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

interface ICollector {
    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata data) external;
}

/// @title The x402 batch-settlement channel contract, for chains of play money only.
///
/// @notice Written for Souk from the interface and the documented rules of `x402BatchSettlement`, so that a chain on one's own
/// machine behaves as Base does. Never audited, never to be deployed where money is worth anything.
///
/// @dev It keeps no immutables, so that its runtime code can be placed anywhere as it is.
contract DevBatchSettlement is Multicall, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    struct ChannelConfig {
        address payer;
        address payerAuthorizer;
        address receiver;
        address receiverAuthorizer;
        address token;
        uint40 withdrawDelay;
        bytes32 salt;
    }

    struct Voucher {
        ChannelConfig channel;
        uint128 maxClaimableAmount;
    }

    struct VoucherClaim {
        Voucher voucher;
        bytes signature;
        uint128 totalClaimed;
    }

    struct Channel {
        uint128 balance;
        uint128 totalClaimed;
    }

    struct Withdrawal {
        uint128 amount;
        uint40 initiatedAt;
    }

    struct Receiver {
        uint128 totalClaimed;
        uint128 totalSettled;
    }

    uint40 public constant MIN_WITHDRAW_DELAY = 900;
    uint40 public constant MAX_WITHDRAW_DELAY = 2_592_000;

    bytes32 public constant CHANNEL_CONFIG_TYPEHASH = keccak256(
        "ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)"
    );
    bytes32 public constant VOUCHER_TYPEHASH = keccak256("Voucher(bytes32 channelId,uint128 maxClaimableAmount)");
    bytes32 public constant REFUND_TYPEHASH = keccak256("Refund(bytes32 channelId,uint256 nonce,uint128 amount)");
    bytes32 public constant CLAIM_ENTRY_TYPEHASH =
        keccak256("ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)");
    bytes32 public constant CLAIM_BATCH_TYPEHASH = keccak256(
        "ClaimBatch(ClaimEntry[] claims)ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)"
    );
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    string private constant NAME = "x402 Batch Settlement";
    string private constant VERSION = "1";

    mapping(bytes32 channelId => Channel) public channels;
    mapping(bytes32 channelId => Withdrawal) public pendingWithdrawals;
    mapping(bytes32 channelId => uint256) public refundNonce;
    mapping(address receiver => mapping(address token => Receiver)) public receivers;

    event ChannelCreated(bytes32 indexed channelId, ChannelConfig config);
    event ChannelClosed(bytes32 indexed channelId, ChannelConfig config);
    event Deposited(bytes32 indexed channelId, address indexed sender, uint128 amount, uint128 newBalance);
    event Claimed(bytes32 indexed channelId, address indexed sender, uint128 claimAmount, uint128 newTotalClaimed);
    event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount);
    event Refunded(bytes32 indexed channelId, address indexed sender, uint128 amount);
    event WithdrawInitiated(bytes32 indexed channelId, uint128 amount, uint40 finalizeAfter);
    event WithdrawFinalized(bytes32 indexed channelId, address indexed sender, uint128 amount);

    error InvalidChannel();
    error WithdrawDelayOutOfRange();
    error ZeroDeposit();
    error DepositOverflow();
    error InvalidCollector();
    error DepositCollectionFailed();
    error EmptyBatch();
    error NotAuthorizedToClaim();
    error NotReceiverAuthorizer();
    error ClaimExceedsCeiling();
    error ClaimExceedsBalance();
    error InvalidSignature();
    error NothingToWithdraw();
    error WithdrawalAlreadyPending();
    error WithdrawAmountExceedsAvailable();
    error NotAuthorizedToFinalizeWithdraw();
    error WithdrawalNotPending();
    error WithdrawDelayNotElapsed();
    error NotAuthorizedToRefund();
    error InvalidRefundNonce();
    error ZeroRefund();

    // Payer: money in.

    function deposit(ChannelConfig calldata config, uint128 amount, address collector, bytes calldata collectorData)
        external
        nonReentrant
    {
        _requireSound(config);
        if (amount == 0) revert ZeroDeposit();
        if (collector == address(0)) revert InvalidCollector();
        bytes32 id = getChannelId(config);
        Channel storage channel = channels[id];
        bool isFirst = channel.balance == 0 && channel.totalClaimed == 0;
        if (channel.balance > type(uint128).max - amount) revert DepositOverflow();
        channel.balance += amount;
        _collect(config, amount, id, collector, collectorData);
        if (isFirst) emit ChannelCreated(id, config);
        emit Deposited(id, msg.sender, amount, channel.balance);
    }

    // Receiver: claims recorded, then money out.

    function claim(VoucherClaim[] calldata voucherClaims) external nonReentrant {
        if (voucherClaims.length == 0) revert EmptyBatch();
        for (uint256 i; i < voucherClaims.length; ++i) {
            if (!_isReceiving(voucherClaims[i].voucher.channel)) revert NotAuthorizedToClaim();
            _record(voucherClaims[i]);
        }
    }

    function claimWithSignature(VoucherClaim[] calldata voucherClaims, bytes calldata authorizerSignature)
        external
        nonReentrant
    {
        if (voucherClaims.length == 0) revert EmptyBatch();
        address authorizer = voucherClaims[0].voucher.channel.receiverAuthorizer;
        _requireSigned(authorizer, getClaimBatchDigest(voucherClaims), authorizerSignature);
        for (uint256 i; i < voucherClaims.length; ++i) {
            if (voucherClaims[i].voucher.channel.receiverAuthorizer != authorizer) revert NotReceiverAuthorizer();
            _record(voucherClaims[i]);
        }
    }

    function settle(address receiver, address token) external nonReentrant {
        Receiver storage book = receivers[receiver][token];
        uint128 due = book.totalClaimed - book.totalSettled;
        if (due != 0) {
            book.totalSettled = book.totalClaimed;
            IERC20(token).safeTransfer(receiver, due);
            emit Settled(receiver, token, msg.sender, due);
        }
    }

    function refund(ChannelConfig calldata config, uint128 amount) external nonReentrant {
        if (!_isReceiving(config)) revert NotAuthorizedToRefund();
        _refund(config, amount);
    }

    function refundWithSignature(
        ChannelConfig calldata config,
        uint128 amount,
        uint256 nonce,
        bytes calldata receiverAuthorizerSignature
    ) external nonReentrant {
        bytes32 id = getChannelId(config);
        if (refundNonce[id] != nonce) revert InvalidRefundNonce();
        _requireSigned(config.receiverAuthorizer, getRefundDigest(id, nonce, amount), receiverAuthorizerSignature);
        _refund(config, amount);
    }

    // Payer: money back without the receiver, after the delay.

    function initiateWithdraw(ChannelConfig calldata config, uint128 amount) external nonReentrant {
        if (!_isPaying(config)) revert InvalidChannel();
        if (amount == 0) revert NothingToWithdraw();
        bytes32 id = getChannelId(config);
        if (pendingWithdrawals[id].initiatedAt != 0) revert WithdrawalAlreadyPending();
        if (amount > _unclaimed(channels[id])) revert WithdrawAmountExceedsAvailable();
        pendingWithdrawals[id] = Withdrawal({amount: amount, initiatedAt: uint40(block.timestamp)});
        emit WithdrawInitiated(id, amount, uint40(block.timestamp) + config.withdrawDelay);
    }

    function finalizeWithdraw(ChannelConfig calldata config) external nonReentrant {
        if (!_isPaying(config)) revert NotAuthorizedToFinalizeWithdraw();
        bytes32 id = getChannelId(config);
        Withdrawal memory pending = pendingWithdrawals[id];
        if (pending.initiatedAt == 0) revert WithdrawalNotPending();
        if (block.timestamp < uint256(pending.initiatedAt) + config.withdrawDelay) revert WithdrawDelayNotElapsed();
        delete pendingWithdrawals[id];
        Channel storage channel = channels[id];
        uint128 amount = _least(pending.amount, _unclaimed(channel));
        channel.balance -= amount;
        emit WithdrawFinalized(id, msg.sender, amount);
        _payBack(config, id, channel, amount);
    }

    // Views.

    function getChannelId(ChannelConfig calldata config) public view returns (bytes32) {
        return _digest(keccak256(abi.encode(CHANNEL_CONFIG_TYPEHASH, config)));
    }

    function getVoucherDigest(bytes32 channelId, uint128 maxClaimableAmount) public view returns (bytes32) {
        return _digest(keccak256(abi.encode(VOUCHER_TYPEHASH, channelId, maxClaimableAmount)));
    }

    function getRefundDigest(bytes32 channelId, uint256 nonce, uint128 amount) public view returns (bytes32) {
        return _digest(keccak256(abi.encode(REFUND_TYPEHASH, channelId, nonce, amount)));
    }

    function getClaimBatchDigest(VoucherClaim[] calldata voucherClaims) public view returns (bytes32) {
        bytes memory entries;
        for (uint256 i; i < voucherClaims.length; ++i) {
            VoucherClaim calldata row = voucherClaims[i];
            bytes32 id = getChannelId(row.voucher.channel);
            bytes32 entry =
                keccak256(abi.encode(CLAIM_ENTRY_TYPEHASH, id, row.voucher.maxClaimableAmount, row.totalClaimed));
            entries = bytes.concat(entries, entry);
        }
        return _digest(keccak256(abi.encode(CLAIM_BATCH_TYPEHASH, keccak256(entries))));
    }

    /// @dev ERC-5267.
    function eip712Domain()
        external
        view
        returns (
            bytes1 fields,
            string memory name,
            string memory version,
            uint256 chainId,
            address verifyingContract,
            bytes32 salt,
            uint256[] memory extensions
        )
    {
        return (hex"0f", NAME, VERSION, block.chainid, address(this), bytes32(0), new uint256[](0));
    }

    // Rules.

    function _requireSound(ChannelConfig calldata config) private pure {
        bool isWhole = config.payer != address(0) && config.receiver != address(0)
            && config.receiverAuthorizer != address(0) && config.token != address(0);
        if (!isWhole) revert InvalidChannel();
        if (config.withdrawDelay < MIN_WITHDRAW_DELAY || config.withdrawDelay > MAX_WITHDRAW_DELAY) {
            revert WithdrawDelayOutOfRange();
        }
    }

    /// @dev Collectors are anybody's code: only what has arrived counts.
    function _collect(
        ChannelConfig calldata config,
        uint128 amount,
        bytes32 id,
        address collector,
        bytes calldata collectorData
    ) private {
        IERC20 token = IERC20(config.token);
        uint256 expected = token.balanceOf(address(this)) + amount;
        ICollector(collector).collect(config.payer, config.token, amount, id, collectorData);
        if (token.balanceOf(address(this)) != expected) revert DepositCollectionFailed();
    }

    /// @dev Claims are absolute: a row that is not above what was claimed changes nothing, not even by its signature.
    function _record(VoucherClaim calldata row) private {
        ChannelConfig calldata config = row.voucher.channel;
        bytes32 id = getChannelId(config);
        Channel storage channel = channels[id];
        uint128 before = channel.totalClaimed;
        if (row.totalClaimed <= before) return;
        if (row.totalClaimed > row.voucher.maxClaimableAmount) revert ClaimExceedsCeiling();
        if (row.totalClaimed > channel.balance) revert ClaimExceedsBalance();
        _requirePayer(config, getVoucherDigest(id, row.voucher.maxClaimableAmount), row.signature);
        channel.totalClaimed = row.totalClaimed;
        receivers[config.receiver][config.token].totalClaimed += row.totalClaimed - before;
        emit Claimed(id, msg.sender, row.totalClaimed - before, row.totalClaimed);
    }

    /// @dev A named authorizer signs as a plain account: 65 bytes, s in the lower half. Only the payer may be a contract.
    function _requirePayer(ChannelConfig calldata config, bytes32 digest, bytes calldata signature) private view {
        if (config.payerAuthorizer == address(0)) _requireSigned(config.payer, digest, signature);
        else if (ECDSA.recoverCalldata(digest, signature) != config.payerAuthorizer) revert InvalidSignature();
    }

    function _requireSigned(address signer, bytes32 digest, bytes calldata signature) private view {
        if (!SignatureChecker.isValidSignatureNow(signer, digest, signature)) revert InvalidSignature();
    }

    /// @dev The nonce moves even where nothing is left to give back, so that no signed refund outlives another.
    function _refund(ChannelConfig calldata config, uint128 asked) private {
        if (asked == 0) revert ZeroRefund();
        bytes32 id = getChannelId(config);
        refundNonce[id] += 1;
        Channel storage channel = channels[id];
        uint128 amount = _least(asked, _unclaimed(channel));
        if (amount == 0) return;
        channel.balance -= amount;
        Withdrawal storage pending = pendingWithdrawals[id];
        if (amount >= pending.amount) delete pendingWithdrawals[id];
        else pending.amount -= amount;
        emit Refunded(id, msg.sender, amount);
        _payBack(config, id, channel, amount);
    }

    function _payBack(ChannelConfig calldata config, bytes32 id, Channel storage channel, uint128 amount) private {
        if (channel.balance == 0 && channel.totalClaimed == 0) emit ChannelClosed(id, config);
        if (amount != 0) IERC20(config.token).safeTransfer(config.payer, amount);
    }

    function _isPaying(ChannelConfig calldata config) private view returns (bool) {
        return msg.sender == config.payer || msg.sender == config.payerAuthorizer;
    }

    function _isReceiving(ChannelConfig calldata config) private view returns (bool) {
        return msg.sender == config.receiver || msg.sender == config.receiverAuthorizer;
    }

    function _unclaimed(Channel storage channel) private view returns (uint128) {
        return channel.balance - channel.totalClaimed;
    }

    function _least(uint128 a, uint128 b) private pure returns (uint128) {
        return a < b ? a : b;
    }

    function _digest(bytes32 structHash) private view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(DOMAIN_TYPEHASH, keccak256(bytes(NAME)), keccak256(bytes(VERSION)), block.chainid, address(this))
        );
        return keccak256(abi.encodePacked(hex"1901", domain, structHash));
    }
}
